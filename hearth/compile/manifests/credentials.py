"""Secrets of `system-llm`: their names, what is in them, and the Secret objects.

Manifests refer to Secrets by name and never hold a value. The functions that take values are for the deployment,
which makes the values, keeps them encrypted, and names each Secret by its content, so that a change rolls the Pods.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hearth.compile.manifests.common import DIGEST_LENGTH, Object, metadata
from hearth.compile.manifests.connection import GATEWAY_ROLE, OWNER, database_url
from hearth.compile.names import (
    CACHE,
    DATABASE,
    GATEWAY,
    GUARD,
    GUARDS,
    MANAGEMENT_MAP,
    MANAGEMENT_TOKEN,
    credential_variable,
)
from hearth.topology.topology import Topology

MIGRATIONS: Final = "llm-migrations"
"""Job that brings the database's tables to the gateway's version."""
ENDPOINT_CREDENTIALS: Final = "llm-endpoint-credentials"
"""Secret with the guard's credentials for the endpoints that Hearth runs in Pods."""
EXTERNAL_CREDENTIALS: Final = "llm-endpoint-credentials-external"
"""Secret with the guard's credentials for all other endpoints; the operator writes it (S4-53)."""
PROVIDER_CREDENTIALS: Final = "llm-provider-credentials"
"""Secret with the providers' tokens, one key each; the operator writes it (S3-32, S3-39)."""
HUB_CREDENTIALS: Final = "vllm-hf-token"
"""Secret with a Hugging Face token for gated models, key `token`; made by hand and optional (S3-44)."""
GATEWAY_GUARD: Final = "llm-gateway-guard"
"""Secret with what the gateway's front calls the guard with."""
IN_CLUSTER_TRUST: Final = "llm-trust-in-cluster"
"""ConfigMap with the CA that Hearth makes for the endpoints in its own Pods."""


@dataclass(frozen=True)
class SecretNames:
    """Names of the Secrets, and of the one ConfigMap, that only the deployment can know.

    A field is a `str` when manifests are rendered, and a Pulumi output when they are deployed.
    """

    database: Any
    """Passwords of the database's roles: `owner-password`, `gateway-password`."""
    cache: Any
    """`valkey.conf`."""
    gateway: Any
    """`LITELLM_MASTER_KEY`, `LITELLM_SALT_KEY`, `DATABASE_URL` of the gateway's role, `REDIS_PASSWORD`; and
    `MANAGEMENT_TOKEN`, which no container gets."""
    migrations: Any
    """`DATABASE_URL` of the owner, and its password as `pgpass` for psql."""
    endpoint_credentials: Any
    """`ENDPOINT_CREDENTIAL_<ID>` for each endpoint in a Pod."""
    in_cluster_trust: Any
    """ConfigMap with `in-cluster.pem`."""
    guards: tuple[Any, ...] = ()
    """By replica of the guard: `tls.crt`, `tls.key`, and `tokens.map` with the digests of its callers' credentials."""
    gateway_guard: Any = None
    """What the gateway's front calls the guard with: `ca.pem`, and `credentials.map` with one for each upstream; and
    `management.map` with the digest of the management token."""
    endpoints: Mapping[str, Any] = field(default_factory=dict)
    """By endpoint id: `tokens.map`, `runtime.map`, `runtime-key`, `tls.crt`, `tls.key`."""

    @classmethod
    def by_reference(cls, topology: Topology) -> "SecretNames":
        """Return the names that rendered manifests refer to: the Secrets' plain names."""
        return cls(
            database=DATABASE,
            cache=CACHE,
            gateway=GATEWAY,
            migrations=MIGRATIONS,
            endpoint_credentials=ENDPOINT_CREDENTIALS,
            in_cluster_trust=IN_CLUSTER_TRUST,
            guards=GUARDS[: topology.gateway.guards],
            gateway_guard=GATEWAY_GUARD,
            endpoints={pod.id.name: endpoint_secret(pod.id.name) for pod in topology.pods},
        )


def endpoint_secret(endpoint_id: str) -> str:
    """Return the plain name of an endpoint's Secret."""
    return f"llm-endpoint-{endpoint_id}"


def database_contents(*, owner_password: str, gateway_password: str) -> dict[str, str]:
    """Return what PostgreSQL's Secret holds. The superuser has no password: it connects from its own Pod alone."""
    return {"owner-password": owner_password, "gateway-password": gateway_password}


def cache_contents(*, password: str) -> dict[str, str]:
    """Return what Valkey's Secret holds: its whole configuration.

    Nothing is kept on a disk, and nothing is evicted: what is in it are counters, and a lost counter is a limit
    that no longer holds. Commands that change the server or empty it do not exist. LiteLLM needs scripts.
    """
    closed = ("CONFIG", "DEBUG", "FLUSHALL", "FLUSHDB", "MODULE", "REPLICAOF", "SLAVEOF", "SHUTDOWN")
    lines = [
        "bind * -::*",
        "port 6379",
        "protected-mode yes",
        f'requirepass "{password}"',
        'save ""',
        "appendonly no",
        "dir /data",
        "maxmemory 96mb",
        "maxmemory-policy noeviction",
        *(f'rename-command {command} ""' for command in closed),
    ]
    return {"valkey.conf": "\n".join(lines) + "\n"}


def gateway_contents(
    topology: Topology,
    *,
    master_key: str,
    salt_key: str,
    management_token: str,
    gateway_password: str,
    cache_password: str,
) -> dict[str, str]:
    """Return what the gateway's Secret holds.

    Args:
        topology: the topology.
        master_key: LiteLLM's master key, `sk-` and at least 32 random bytes.
        salt_key: key that LiteLLM encrypts with; never changed, or what it encrypted is lost.
        management_token: what the front asks for at its port for administration. It is kept beside the master key for
            whoever administers, and given to no container.
        gateway_password: password of the gateway's database role.
        cache_password: Valkey's password.
    """
    return {
        "LITELLM_MASTER_KEY": master_key,
        "LITELLM_SALT_KEY": salt_key,
        MANAGEMENT_TOKEN: management_token,
        "DATABASE_URL": database_url(topology, GATEWAY_ROLE, gateway_password),
        "REDIS_PASSWORD": cache_password,
    }


def migrations_contents(topology: Topology, *, owner_password: str) -> dict[str, str]:
    """Return what the migrations' Secret holds."""
    escaped = owner_password.replace("\\", "\\\\").replace(":", "\\:")
    return {
        "DATABASE_URL": database_url(topology, OWNER, owner_password),
        "pgpass": f"*:*:*:{OWNER}:{escaped}\n",
    }


def endpoint_contents(*, token: str, runtime_key: str, certificate: str, private_key: str) -> dict[str, str]:
    """Return what the Secret of an endpoint in a Pod holds.

    Args:
        token: credential that the guard presents; only its digest gets here.
        runtime_key: the runtime's own key, which the sidecar puts on the loopback hop (S4-51).
        certificate: the sidecar's certificate chain as PEM.
        private_key: its key as PEM.
    """
    return {
        "tokens.map": f"{hashlib.sha256(token.encode()).hexdigest()} gateway\n",
        "runtime.map": f"runtime {runtime_key}\n",
        # Without a line end: one engine reads a file of lines, another a variable.
        "runtime-key": runtime_key,
        "tls.crt": certificate,
        "tls.key": private_key,
    }


def guard_contents(tokens: Mapping[str, str], *, certificate: str, private_key: str) -> dict[str, str]:
    """Return what the Secret of a replica of the guard holds.

    Args:
        tokens: the credential that opens each upstream, by the upstream's name; only digests get here.
        certificate: the replica's certificate chain as PEM.
        private_key: its key as PEM.
    """
    digests = {name: hashlib.sha256(token.encode()).hexdigest() for name, token in tokens.items()}
    return {
        "tokens.map": "".join(f"{digest} {name}\n" for name, digest in sorted(digests.items())),
        "tls.crt": certificate,
        "tls.key": private_key,
    }


def gateway_guard_contents(tokens: Mapping[str, str], *, authority: str, management_token: str) -> dict[str, str]:
    """Return what the front in the gateway's Pod calls the guard with, and knows administrators by.

    Args:
        tokens: the credential that opens each upstream, by the upstream's name.
        authority: certificates of the CA of the guard's certificate as PEM.
        management_token: what the port for administration asks for; only its digest gets here.
    """
    credentials = "".join(f"{name} {token}\n" for name, token in sorted(tokens.items()))
    return {
        "ca.pem": authority,
        "credentials.map": credentials,
        MANAGEMENT_MAP: f"{hashlib.sha256(management_token.encode()).hexdigest()} management\n",
    }


def endpoint_credentials_contents(topology: Topology, tokens: Mapping[str, str]) -> dict[str, str]:
    """Return what the Secret with the guard's credentials holds.

    Args:
        topology: the topology.
        tokens: the token of each endpoint in a Pod, by endpoint id.
    """
    return {credential_variable(pod): tokens[pod.id.name] for pod in topology.pods}


def secret_name(base: str, contents: Mapping[str, str]) -> str:
    """Return a Secret's name with its content's digest.

    The name is no secret, so the digest is a slow one: a short password cannot be found by trying many.
    """
    text = "\0".join(f"{key}\0{value}" for key, value in sorted(contents.items()))
    digest = hashlib.scrypt(text.encode(), salt=base.encode(), n=2**14, r=8, p=1, dklen=DIGEST_LENGTH // 2)
    return f"{base}-{digest.hex()}"


def secret(namespace: str, stable_name: str, name: Any, app: str, contents: Any) -> Object:
    """Return an immutable Secret.

    Args:
        namespace: where it is.
        stable_name: its name without the digest of its content.
        name: its name; may be a Pulumi output.
        app: the program that it belongs to.
        contents: its content by key; may be a secret Pulumi output.
    """
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata(namespace, name, "credentials", app=app),
        "immutable": True,
        "type": "Opaque",
        "stringData": contents,
    }
    return Object(manifest, stable_name)


def in_cluster_trust(namespace: str, name: Any, certificate: Any) -> Object:
    """Return the ConfigMap with the CA of the endpoints in Hearth's own Pods.

    Args:
        namespace: where it is.
        name: its name; may be a Pulumi output.
        certificate: the CA certificate as PEM; may be a Pulumi output.
    """
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata(namespace, name, "trust", app=GUARD),
        "immutable": True,
        "data": {"in-cluster.pem": certificate},
    }
    return Object(manifest, IN_CLUSTER_TRUST)

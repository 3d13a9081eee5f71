"""The Secrets of `system-llm`: values that the deployment makes, in objects that are named by their content."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from hearth.claim.llm import ExternalDatabase
from hearth.claim.problems import ClaimError, Problem
from hearth.cluster.secrets import Certificate, CertificateAuthority, RandomSecret
from hearth.compile.manifests import credentials
from hearth.compile.manifests.common import DIGEST_LENGTH, Object, content_digest
from hearth.compile.names import (
    CACHE,
    DATABASE,
    GATEWAY,
    GUARD,
    GUARDS,
    credential_key,
)
from hearth.kubeapi.client import KubernetesApi, decoded
from hearth.topology.topology import Topology

Contents = dict[str, str]
AUTHORITY, CERTIFICATE, PRIVATE_KEY, MANAGEMENT = ".authority", ".certificate", ".private-key", ".management"
"""What a Secret is made from beside credentials by an upstream's name; no upstream is called so."""


@dataclass(frozen=True)
class Certificates:
    """The CA of everything that is in Pods."""

    signing: CertificateAuthority
    """The generation that signs."""
    trusted: list[pulumi.Output[str]]
    """Certificates of all generations that are trusted, as PEM."""


def supplied(kubernetes: KubernetesApi, namespace: str, database: ExternalDatabase) -> tuple[str, str]:
    """Return the passwords of an external database's owner and of the gateway's role (S4-53).

    Raises:
        ClaimError: the operator has not supplied them; all that are missing are named at once.
        ClusterError: the Kubernetes API cannot be used.
    """
    there = decoded(kubernetes.secret(namespace, credentials.EXTERNAL_CREDENTIALS) or {})
    fields = {"ownerCredential": database.owner_credential, "gatewayCredential": database.gateway_credential}
    missing = [
        Problem(
            f"hearth:llm.database.{field}",
            f"{reference} is not in the Secret {namespace}/{credentials.EXTERNAL_CREDENTIALS}",
            f"Put the password there: `hearth credentials set --endpoint {reference}` reads it from standard input",
        )
        for field, reference in fields.items()
        if not there.get(credential_key(reference))
    ]
    if missing:
        raise ClaimError(missing)
    owner, gateway = (there[credential_key(reference)] for reference in fields.values())
    return owner, gateway


class SystemSecrets(pulumi.ComponentResource):
    """Every Secret that the gateway and what is behind it need, and their names."""

    names: credentials.SecretNames
    """Names for the manifests that refer to them."""
    objects: list[Object]
    """The objects."""

    def __init__(self, topology: Topology, kubernetes: KubernetesApi, *, parent: pulumi.Resource) -> None:
        super().__init__("hearth:index:Secrets", "secrets", {}, pulumi.ResourceOptions(parent=parent))
        self.objects = []
        self._namespace = topology.namespace
        random = self._random
        # LiteLLM's own data is unreadable without the salt, so nobody deletes it by mistake.
        salt = self._random("salt-key", prefix="sk-", protect=True)
        master_key = random("master-key", prefix="sk-")
        management = random("management-token")
        cache = random("cache-password")
        owner, gateway = self._database_passwords(topology, kubernetes)

        secret = self._secret
        certificates = self._certificates(topology)
        trust = pulumi.Output.all(*certificates.trusted).apply("".join)
        callers = {upstream.name: random(f"guard-{upstream.name}-token") for upstream in topology.upstreams}
        tokens = {pod.id.name: random(f"endpoint-{pod.id.name}-token") for pod in topology.pods}
        self.names = credentials.SecretNames(
            database=secret(
                DATABASE,
                DATABASE,
                lambda found: credentials.database_contents(**found),
                {"owner_password": owner, "gateway_password": gateway},
            ),
            cache=secret(CACHE, CACHE, lambda found: credentials.cache_contents(**found), {"password": cache}),
            gateway=secret(
                GATEWAY,
                GATEWAY,
                lambda found: credentials.gateway_contents(topology, **found),
                {
                    "master_key": master_key,
                    "salt_key": salt,
                    "management_token": management,
                    "gateway_password": gateway,
                    "cache_password": cache,
                },
            ),
            migrations=secret(
                credentials.MIGRATIONS,
                credentials.MIGRATIONS,
                lambda found: credentials.migrations_contents(topology, **found),
                {"owner_password": owner},
            ),
            guards=tuple(
                self._guard(name, topology, certificates, callers) for name in GUARDS[: topology.gateway.guards]
            ),
            gateway_guard=secret(
                credentials.GATEWAY_GUARD,
                GATEWAY,
                lambda found: credentials.gateway_guard_contents(
                    found, authority=found.pop(AUTHORITY), management_token=found.pop(MANAGEMENT)
                ),
                {**callers, AUTHORITY: trust, MANAGEMENT: management},
            ),
            **(
                self._endpoints(topology, tokens, certificates, trust)
                if tokens
                else {"endpoint_credentials": None, "in_cluster_trust": None}
            ),
        )
        self.register_outputs({})

    def _random(self, name: str, *, prefix: str = "", protect: bool | None = None) -> pulumi.Output[str]:
        return RandomSecret(name, prefix=prefix, opts=pulumi.ResourceOptions(parent=self, protect=protect)).value

    def _database_passwords(
        self, topology: Topology, kubernetes: KubernetesApi
    ) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
        """Return the passwords of the owner and of the gateway's role: made here, or supplied by the operator."""
        database = topology.gateway.database
        if not isinstance(database, ExternalDatabase):
            return self._random("database-owner"), self._random("database-gateway")
        owner, gateway = supplied(kubernetes, topology.namespace, database)
        return pulumi.Output.secret(owner), pulumi.Output.secret(gateway)

    def _secret(
        self,
        base: str,
        app: str,
        contents: Callable[[Contents], Contents],
        values: Mapping[str, pulumi.Output[str]],
    ) -> pulumi.Output[str]:
        """Declare one Secret and return its name, which is its content's digest and no secret itself.

        Args:
            base: its name without the digest.
            app: the program that it belongs to.
            contents: what is in it, out of the values.
            values: what it is made from, by any name.
        """
        names = list(values)
        # By place and not by keyword: a name may be that of an endpoint, and so any word.
        given = pulumi.Output.all(*values.values()).apply(lambda found: dict(zip(names, found, strict=True)))
        made: pulumi.Output[Contents] = given.apply(contents)
        content: pulumi.Output[Contents] = pulumi.Output.secret(made)
        name = pulumi.Output.unsecret(content.apply(lambda found: credentials.secret_name(base, found)))
        self.objects.append(credentials.secret(self._namespace, base, name, app, content))
        return name

    def _certificates(self, topology: Topology) -> Certificates:
        """Declare the CA of everything that is in Pods, in every generation that is trusted."""
        declared = topology.policy.cluster.authority
        made = {
            generation: CertificateAuthority(
                # The first one has its name from before there were generations.
                "in-cluster-ca" if generation == 1 else f"in-cluster-ca-{generation}",
                "Hearth in-cluster CA",
                opts=pulumi.ResourceOptions(parent=self),
            )
            for generation in declared.generations
        }
        return Certificates(made[declared.signing], [authority.certificate for authority in made.values()])

    def _guard(
        self,
        name: str,
        topology: Topology,
        certificates: Certificates,
        callers: Mapping[str, pulumi.Output[str]],
    ) -> pulumi.Output[str]:
        """Declare what one replica of the guard needs: a certificate, and digests of its callers' credentials."""
        leaf = Certificate(
            f"{name}-certificate",
            topology.service_host(name),
            certificates.signing,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return self._secret(
            name,
            GUARD,
            lambda found: credentials.guard_contents(
                found, certificate=found.pop(CERTIFICATE), private_key=found.pop(PRIVATE_KEY)
            ),
            {**callers, CERTIFICATE: leaf.certificate, PRIVATE_KEY: leaf.private_key},
        )

    def _endpoints(
        self,
        topology: Topology,
        tokens: Mapping[str, pulumi.Output[str]],
        certificates: Certificates,
        certificate: pulumi.Output[str],
    ) -> dict[str, Any]:
        """Declare what the endpoints in Pods need: certificates and their CA, runtime keys, and the guard's tokens."""
        trust = certificate.apply(
            lambda pem: f"{credentials.IN_CLUSTER_TRUST}-{content_digest({'in-cluster.pem': pem})[:DIGEST_LENGTH]}"
        )
        self.objects.append(credentials.in_cluster_trust(self._namespace, trust, certificate))
        here = pulumi.ResourceOptions(parent=self)
        named = {}
        for endpoint_id, token in tokens.items():
            leaf = Certificate(
                f"endpoint-{endpoint_id}-certificate",
                topology.endpoint(endpoint_id).address.host,
                certificates.signing,
                opts=here,
            )
            named[endpoint_id] = self._secret(
                credentials.endpoint_secret(endpoint_id),
                topology.endpoint(endpoint_id).service,
                lambda found: credentials.endpoint_contents(**found),
                {
                    "token": token,
                    "runtime_key": self._random(f"endpoint-{endpoint_id}-runtime-key"),
                    "certificate": leaf.certificate,
                    "private_key": leaf.private_key,
                },
            )
        presented = self._secret(
            credentials.ENDPOINT_CREDENTIALS,
            GUARD,
            lambda found: credentials.endpoint_credentials_contents(topology, found),
            tokens,
        )
        return {"endpoint_credentials": presented, "in_cluster_trust": trust, "endpoints": named}

"""The Secrets of `system-llm`: values that the deployment makes, in objects that are named by their content."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pulumi

from hearth.claim.claim import Claim
from hearth.claim.llm import ExternalDatabase
from hearth.claim.problems import ClaimError, Problem
from hearth.cluster.secrets import Certificate, CertificateAuthority, RandomSecret
from hearth.compile.manifests import credentials
from hearth.compile.manifests.common import DIGEST_LENGTH, content_digest
from hearth.compile.names import (
    CACHE,
    DATABASE,
    GATEWAY,
    NAMESPACE,
    credential_key,
    endpoint_host,
    endpoint_service,
    pod_endpoints,
)
from hearth.gatewayapi.kube import Cluster, KubernetesApi, decoded

Contents = dict[str, str]


def supplied(kubernetes: KubernetesApi, database: ExternalDatabase) -> tuple[str, str]:
    """Return the passwords of an external database's owner and of the gateway's role (S4-53).

    Raises:
        ClaimError: the operator has not supplied them; all that are missing are named at once.
        ClusterError: the Kubernetes API cannot be used.
    """
    there = decoded(kubernetes.secret(NAMESPACE, credentials.EXTERNAL_CREDENTIALS) or {})
    fields = {"ownerCredential": database.owner_credential, "gatewayCredential": database.gateway_credential}
    missing = [
        Problem(
            f"hearth:llm.database.{field}",
            f"{reference} is not in the Secret {NAMESPACE}/{credentials.EXTERNAL_CREDENTIALS}",
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
    manifests: list[tuple[str, dict[str, Any]]]
    """The objects, each with its name for Pulumi, which has no digest."""

    def __init__(self, claim: Claim, *, parent: pulumi.Resource) -> None:
        super().__init__("hearth:index:Secrets", "secrets", {}, pulumi.ResourceOptions(parent=parent))
        self.manifests = []
        random = self._random
        # LiteLLM's own data is unreadable without the salt, so nobody deletes it by mistake.
        salt = self._random("salt-key", prefix="sk-", protect=True)
        master_key = random("master-key", prefix="sk-")
        cache = random("cache-password")
        owner, gateway = self._database_passwords(claim)

        secret = self._secret
        tokens = {name: random(f"endpoint-{name}-token") for name in pod_endpoints(claim)}
        self.names = credentials.SecretNames(
            database=secret(
                DATABASE,
                DATABASE,
                credentials.database_contents,
                owner_password=owner,
                gateway_password=gateway,
            ),
            cache=secret(CACHE, CACHE, credentials.cache_contents, password=cache),
            gateway=secret(
                GATEWAY,
                GATEWAY,
                partial(credentials.gateway_contents, claim),
                master_key=master_key,
                salt_key=salt,
                gateway_password=gateway,
                cache_password=cache,
            ),
            migrations=secret(
                credentials.MIGRATIONS,
                credentials.MIGRATIONS,
                partial(credentials.migrations_contents, claim),
                owner_password=owner,
            ),
            **(self._endpoints(tokens) if tokens else {"endpoint_credentials": None, "in_cluster_trust": None}),
        )
        self.register_outputs({})

    def _random(self, name: str, *, prefix: str = "", protect: bool | None = None) -> pulumi.Output[str]:
        return RandomSecret(name, prefix=prefix, opts=pulumi.ResourceOptions(parent=self, protect=protect)).value

    def _database_passwords(self, claim: Claim) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
        """Return the passwords of the owner and of the gateway's role: made here, or supplied by the operator."""
        database = claim.llm.database
        if not isinstance(database, ExternalDatabase):
            return self._random("database-owner"), self._random("database-gateway")
        config = pulumi.Config("kubernetes")
        kubernetes = KubernetesApi(Cluster.named(config.get("kubeconfig"), config.get("context")))
        owner, gateway = supplied(kubernetes, database)
        return pulumi.Output.secret(owner), pulumi.Output.secret(gateway)

    def _secret(
        self,
        base: str,
        app: str,
        contents: Callable[..., Contents],
        **values: pulumi.Input[str],
    ) -> pulumi.Output[str]:
        """Declare one Secret and return its name, which is its content's digest and no secret itself."""
        made: pulumi.Output[Contents] = pulumi.Output.all(**values).apply(lambda given: contents(**given))
        content: pulumi.Output[Contents] = pulumi.Output.secret(made)
        name = pulumi.Output.unsecret(content.apply(lambda found: credentials.secret_name(base, found)))
        self.manifests.append((base, credentials.secret(name, app, content)))
        return name

    def _endpoints(self, tokens: Mapping[str, pulumi.Output[str]]) -> dict[str, Any]:
        """Declare what the endpoints in Pods need: a CA, certificates, runtime keys, and the guard's tokens."""
        here = pulumi.ResourceOptions(parent=self)
        authority = CertificateAuthority("in-cluster-ca", "Hearth in-cluster CA", opts=here)
        trust = authority.certificate.apply(
            lambda pem: f"{credentials.IN_CLUSTER_TRUST}-{content_digest({'in-cluster.pem': pem})[:DIGEST_LENGTH]}"
        )
        self.manifests.append(
            (credentials.IN_CLUSTER_TRUST, credentials.in_cluster_trust(trust, authority.certificate))
        )
        named = {}
        for endpoint_id, token in tokens.items():
            leaf = Certificate(f"endpoint-{endpoint_id}-certificate", endpoint_host(endpoint_id), authority, opts=here)
            named[endpoint_id] = self._secret(
                credentials.endpoint_secret(endpoint_id),
                endpoint_service(endpoint_id),
                credentials.endpoint_contents,
                token=token,
                runtime_key=self._random(f"endpoint-{endpoint_id}-runtime-key"),
                certificate=leaf.certificate,
                private_key=leaf.private_key,
            )
        presented = self._secret(
            credentials.ENDPOINT_CREDENTIALS,
            GATEWAY,
            lambda **given: credentials.endpoint_credentials_contents(given),
            **tokens,
        )
        return {"endpoint_credentials": presented, "in_cluster_trust": trust, "endpoints": named}

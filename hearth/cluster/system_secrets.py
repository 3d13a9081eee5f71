"""The Secrets of `system-llm`: values that the deployment makes, in objects that are named by their content."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pulumi

from hearth.claim.claim import Claim
from hearth.claim.llm import ExternalDatabase
from hearth.cluster.secrets import Certificate, CertificateAuthority, RandomSecret
from hearth.compile.manifests import credentials
from hearth.compile.manifests.common import DIGEST_LENGTH, content_digest
from hearth.compile.names import CACHE, DATABASE, GATEWAY, endpoint_host, endpoint_service, pod_endpoints

Contents = dict[str, str]


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
        owner, gateway, cache = random("database-owner"), random("database-gateway"), random("cache-password")
        if isinstance(claim.llm.database, ExternalDatabase):
            owner, gateway = self._supplied(claim.llm.database)

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
            endpoint_credentials=secret(
                credentials.ENDPOINT_CREDENTIALS,
                GATEWAY,
                lambda **given: credentials.endpoint_credentials_contents(given),
                **tokens,
            ),
            **self._endpoints(tokens),
        )
        self.register_outputs({})

    def _random(self, name: str, *, prefix: str = "", protect: bool | None = None) -> pulumi.Output[str]:
        return RandomSecret(name, prefix=prefix, opts=pulumi.ResourceOptions(parent=self, protect=protect)).value

    def _supplied(self, database: ExternalDatabase) -> tuple[pulumi.Output[str], pulumi.Output[str]]:
        """Return the passwords of an external database's roles, out of the Secret that the operator writes."""
        raise NotImplementedError

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
        """Declare what the endpoints in Pods need: a CA, a certificate and a runtime key each."""
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
        return {"in_cluster_trust": trust, "endpoints": named}

"""Tenants: a namespace that is closed by default, and the Secret of an application that declares the gateway."""

from typing import Any

from hearth.claim.claim import Claim
from hearth.compile.manifests.common import Manifest, labels, pod_security_labels
from hearth.compile.names import (
    APP_LABEL,
    GATEWAY,
    GATEWAY_PORT,
    NAMESPACE,
    TENANT_LABEL,
    credentials_secret,
    tenant_namespace,
)


def tenant_objects(claim: Claim, name: str) -> list[Manifest]:
    """Return a tenant's namespace and its default ServiceAccount, without NetworkPolicies (S3-51).

    Pods are held to `restricted`: an application that talks to a gateway needs no privilege, and one that does
    belongs in a namespace of its own.
    """
    namespace = tenant_namespace(name, claim.tenants[name])
    tenant_labels = {**labels(namespace, "tenant"), TENANT_LABEL: name}
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": namespace, "labels": {**tenant_labels, **pod_security_labels()}},
        },
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace, "labels": tenant_labels},
            "automountServiceAccountToken": False,
        },
    ]


def gateway_url() -> str:
    """Return the base URL that applications call: the OpenAI API without its last part."""
    return f"http://{GATEWAY}.{NAMESPACE}.svc.cluster.local:{GATEWAY_PORT}/v1"


def credentials_secret_manifest(claim: Claim, tenant: str, app: str, key: Any) -> Manifest:
    """Return an application's Secret, written only after its key is registered (S3-47, U-1).

    `OPENAI_BASE_URL` is the name that the OpenAI SDKs read; the other two spellings of it are older.

    Args:
        claim: the claim.
        tenant: the tenant's name.
        app: the application's name.
        key: the registered key; may be a secret Pulumi output.
    """
    url = gateway_url()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": credentials_secret(app),
            "namespace": tenant_namespace(tenant, claim.tenants[tenant]),
            "labels": {**labels(credentials_secret(app), "credentials"), TENANT_LABEL: tenant, APP_LABEL: app},
        },
        "type": "Opaque",
        "stringData": {
            "OPENAI_API_BASE": url,
            "OPENAI_API_BASE_URL": url,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": key,
        },
    }

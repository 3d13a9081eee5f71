"""Tenants: a namespace that is closed by default, and the Secret of an application that declares the gateway."""

from typing import Any

from hearth.compile.manifests.common import Manifest, Object, adoption, labels, pod_security_labels
from hearth.compile.names import (
    APP_LABEL,
    GATEWAY,
    GATEWAY_PORT,
    TENANT_LABEL,
    credentials_secret,
)
from hearth.topology.topology import Tenant, Topology


def tenant_objects(tenant: Tenant) -> list[Object]:
    """Return a tenant's namespace and its default ServiceAccount, without NetworkPolicies (S3-51).

    Pods are held to `restricted`: an application that talks to a gateway needs no privilege, and one that does
    belongs in a namespace of its own.
    """
    namespace = tenant.namespace
    adopted = adoption(adopted=tenant.adopts_its_namespace)
    tenant_labels = {**labels(namespace, "tenant"), TENANT_LABEL: tenant.name}
    return [
        Object.named(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": namespace, "labels": {**tenant_labels, **pod_security_labels()}, **adopted},
            }
        ),
        Object.named(
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "default", "namespace": namespace, "labels": tenant_labels, **adopted},
                "automountServiceAccountToken": False,
            }
        ),
    ]


def gateway_url(topology: Topology) -> str:
    """Return the base URL that applications call: the OpenAI API without its last part."""
    return f"http://{topology.service_host(GATEWAY)}:{GATEWAY_PORT}/v1"


def credentials_secret_manifest(topology: Topology, tenant: Tenant, app: str, key: Any) -> Manifest:
    """Return an application's Secret, written only after its key is registered (S3-47, U-1).

    `OPENAI_BASE_URL` is the name that the OpenAI SDKs read; the other two spellings of it are older.

    Args:
        topology: the topology.
        tenant: the tenant.
        app: the application's name.
        key: the registered key; may be a secret Pulumi output.
    """
    url = gateway_url(topology)
    made = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": credentials_secret(app),
            "namespace": tenant.namespace,
            "labels": {**labels(credentials_secret(app), "credentials"), TENANT_LABEL: tenant.name, APP_LABEL: app},
        },
        "type": "Opaque",
        "stringData": {
            "OPENAI_API_BASE": url,
            "OPENAI_API_BASE_URL": url,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": key,
        },
    }
    return Object.named(made).of(topology.environment).manifest

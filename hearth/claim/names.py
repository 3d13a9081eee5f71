"""Names that a claim has to agree with and that artefacts are made from."""

from typing import Final

from hearth.claim.tenants import Tenant

NAMESPACE: Final = "system-llm"
"""Namespace of the gateway and of everything behind it (S3-1)."""
IN_CLUSTER: Final = "in-cluster"
"""The built-in zone and the built-in trust bundle (C-2)."""
GATEWAY_REFERENCE: Final = "os.environ/"
"""What the gateway takes for the beginning of a variable's name; its own secrets are in its variables."""
SIDECAR_PORT: Final = 8443
"""TCP port of the TLS sidecar."""
GUARD_PROBE_PORT: Final = 8405
"""TCP port of the guard's and the sidecar's health probe."""


def tenant_namespace(name: str, tenant: Tenant) -> str:
    """Return the namespace of a tenant: the declared one, else `tenant-<name>`."""
    return tenant.namespace or f"tenant-{name}"


def endpoint_service(endpoint_id: str) -> str:
    """Return the Service of an endpoint whose runtime is placed in a Pod."""
    return f"llm-{endpoint_id}"


def service_host(service: str, cluster_domain: str) -> str:
    """Return the DNS name of a Service of the gateway's namespace.

    Args:
        service: its name.
        cluster_domain: domain of the cluster's own names.
    """
    return f"{service}.{NAMESPACE}.svc.{cluster_domain}"


def endpoint_host(endpoint_id: str, cluster_domain: str) -> str:
    """Return the only DNS name that an endpoint in a Pod may have in its base URL and in its certificate."""
    return service_host(endpoint_service(endpoint_id), cluster_domain)


def instance_endpoint(name: str) -> str:
    """Return the id of the endpoint, and of the deployment, that an instance is."""
    return f"vllm-{name}"


def instance_host(name: str, cluster_domain: str) -> str:
    """Return the DNS name of an instance's Service (S3-14)."""
    return service_host(f"vllm-{name}-inference", cluster_domain)


def tagged_model(model: str) -> str:
    """Return the name of a model as Ollama keeps it: with its tag, which is `latest` where none is named."""
    return model if ":" in model else f"{model}:latest"


def public_instance_name(model_id: str) -> str:
    """Return the public name of an instance: lower case, `/` as `-` (S3-13)."""
    return model_id.lower().replace("/", "-")


def api_key_property(provider: str) -> str:
    """Return the only token property that a provider may name: `<name>_api_key`, `-` as `_` (S3-27)."""
    return provider.replace("-", "_") + "_api_key"

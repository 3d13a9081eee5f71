"""Names and ports that more than one artefact has to agree on."""

import hashlib
from typing import Final

from hearth.claim.names import GUARD_PROBE_PORT as GUARD_PROBE_PORT
from hearth.claim.names import IN_CLUSTER as IN_CLUSTER
from hearth.claim.names import NAMESPACE
from hearth.claim.names import SIDECAR_PORT as SIDECAR_PORT
from hearth.claim.names import endpoint_host as endpoint_host
from hearth.claim.names import endpoint_service as endpoint_service
from hearth.topology.upstreams import Upstream

GATEWAY: Final = "llm-gateway"
"""Service and Deployment of the gateway. Bare names such as `litellm` would collide with the environment
variables that Kubernetes derives from Services."""
DATABASE: Final = "llm-database"
"""Service and StatefulSet of PostgreSQL."""
CACHE: Final = "llm-cache"
"""Service and Deployment of Valkey."""

DATABASE_ADDRESS: Final = "llm-database-address"
"""Service with one address for the database; the one of the StatefulSet has none."""
GUARD: Final = "llm-guard"
"""What all Pods of the guard have in common: ServiceAccount, disruption budget, labels."""
GUARDS: Final = ("llm-guard-0", "llm-guard-1")
"""Service and Deployment of each replica of the guard."""

GUARD_PORT: Final = 8443
"""TCP port of the guard."""
GUARD_DOOR_PORT: Final = 4002
"""TCP port of the gateway's way to the guard, on loopback only: what LiteLLM calls."""
GATEWAY_PORT: Final = 4000
"""TCP port of the front: the client API."""
LITELLM_PORT: Final = 4001
"""TCP port that leads to LiteLLM past the intake, on loopback only: for port-forward."""
MANAGEMENT_HEADER: Final = "X-Hearth-Management"
"""Header with the token that the port above asks for. It ends at the front."""
MANAGEMENT_TOKEN: Final = "MANAGEMENT_TOKEN"  # noqa: S105 - a key's name
"""Key of the token in the gateway's Secret. No container has it: it is for whoever may read that Secret by the
cluster's API."""
MANAGEMENT_MAP: Final = "management.map"
"""File with its digest, which the front compares."""
DOORS: Final = "/run/hearth"
"""Folder of LiteLLM's sockets, which only the containers of the gateway's Pod share."""
CLIENT_SOCKET: Final = f"{DOORS}/client.sock"
"""LiteLLM behind the intake."""
MANAGEMENT_SOCKET: Final = f"{DOORS}/management.sock"
"""LiteLLM past the intake."""
FRONT_PROBE_PORT: Final = 8406
"""TCP port of the gateway's readiness and liveness probe."""

RUNNER_NAMESPACE: Final = f"{NAMESPACE}-evidence"
"""Namespace of the runner that measures endpoints in Pods: it must not be that of what it measures."""

ROLE_LABEL: Final = "hearth.dev/role"
"""Label that NetworkPolicies select on; tenants cannot give it to Pods in `system-llm`."""
ENDPOINT_LABEL: Final = "hearth.dev/endpoint"
"""Label with the endpoint id of a runtime's Pod."""
MANAGED_LABEL: Final = "app.kubernetes.io/managed-by"
"""Label with what makes an object."""
MANAGER: Final = "hearth"
"""Its value on everything that Hearth makes."""
ENVIRONMENT_LABEL: Final = "hearth.dev/environment"
"""Label with the environment that an object belongs to. What exists without it is somebody else's."""
ADOPTED_ANNOTATION: Final = "hearth.dev/adopted"
"""Annotation of a namespace that somebody else made and Hearth took over."""
FETCHED_AGAIN_ANNOTATION: Final = "hearth.dev/fetched-again"
"""Annotation of a volume whose content can be fetched again: nothing protects it from being deleted."""
TENANT_LABEL: Final = "hearth.dev/tenant"
"""Label with the tenant's name on its namespace."""
APP_LABEL: Final = "hearth.dev/app"
"""Label with the app's name on an application's Pods; it opens the way to the gateway for apps that declare it."""


def credentials_secret(app: str) -> str:
    """Return the Secret with an application's key, in the tenant's namespace (S3-47)."""
    return f"llm-credentials-{app}"


def home(upstream: Upstream, guards: int) -> int:
    """Return which replica of the guard an upstream is asked through, so that its bounds are counted in one place.

    It follows from the upstream's name alone: another upstream that comes or goes moves no home.

    Args:
        upstream: the upstream.
        guards: replicas of the guard.
    """
    return hashlib.sha256(upstream.name.encode()).digest()[0] % guards


def credential_variable(upstream: Upstream) -> str:
    """Return the environment variable of the guard that holds an upstream's credential (S3-40)."""
    credential = upstream.credential
    if credential is not None and credential.source == "token":
        return f"LLM_PROVIDER_KEY_{credential.name}"
    return f"{upstream.id.kind.upper()}_CREDENTIAL_{upstream.id.name.upper().replace('-', '_')}"


def credential_key(reference: str) -> str:
    """Return the key that a credential has in the operator's Secret: `<scope>.<name>` of `credential://<scope>/<name>`."""
    return reference.removeprefix("credential://").replace("/", ".")

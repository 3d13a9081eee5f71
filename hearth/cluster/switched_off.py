"""A gateway that is switched off after it ran: nothing runs, and nothing is lost.

`llm.enabled: false` on a stack that was never deployed declares nothing (S3-2). On one that was, deleting everything
would take along every tenant's namespace with what others put there, the database, and the keys that applications
have. So what holds data stays, and what runs goes; `true` brings it back as it was. Removing an environment for good
is `pulumi destroy`.
"""

from dataclasses import replace

from hearth.claim.claim import Claim
from hearth.claim.loader import LoadedClaim
from hearth.claim.problems import ClaimError, Notice, Problem
from hearth.compile.manifests.groups import Group
from hearth.compile.names import MANAGED_LABEL, MANAGER
from hearth.kubeapi.client import KubernetesApi

NOTICE = Notice(
    "hearth:llm.enabled",
    "is false, so that nothing runs: the gateway, its database and cache and the models in Pods are stopped, and "
    "applications get no connection. What stays: every namespace with all that is in it, the database's volume, keys, "
    "their Secrets and what was spent. true brings everything back; `pulumi destroy` removes it for good",
)
"""What the operator is told at every preview and update."""

_IGNORED = frozenset({"environment"})


def is_switched_off(loaded: LoadedClaim, deployed: Claim | None, kubernetes: KubernetesApi, namespace: str) -> bool:
    """Return whether there is something that stays although the claim has no gateway.

    Args:
        loaded: the claim.
        deployed: the claim that was deployed last, if it is known.
        kubernetes: the cluster.
        namespace: the gateway's namespace.

    Raises:
        ClusterError: the Kubernetes API cannot be used.
    """
    if loaded.claim.llm.enabled:
        return False
    if deployed is not None and deployed.llm.enabled:
        return True
    there = kubernetes.namespace(namespace)
    return bool(there and (there["metadata"].get("labels") or {}).get(MANAGED_LABEL) == MANAGER)


def as_if_enabled(loaded: LoadedClaim) -> LoadedClaim:
    """Return the claim as it is when the gateway is on."""
    return replace(loaded, claim=_enabled(loaded.claim))


def _enabled(claim: Claim) -> Claim:
    return claim.model_copy(update={"llm": claim.llm.model_copy(update={"enabled": True})})


def require_unchanged(loaded: LoadedClaim, deployed: Claim | None) -> None:
    """Refuse other changes: without a gateway no key and no team can be changed.

    Args:
        loaded: the claim, as if the gateway were on.
        deployed: the claim that was deployed last, if it is known.

    Raises:
        ClaimError: something else differs from what was deployed.
    """
    if deployed is None:
        return
    before = _enabled(deployed)
    problems = [
        Problem(
            f"hearth:{field.alias or name}",
            "changes while the gateway is off, or together with switching it off",
            "Change it while hearth:llm.enabled is true: keys and teams are in the gateway's database",
        )
        for name, field in Claim.model_fields.items()
        if name not in _IGNORED and getattr(before, name) != getattr(loaded.claim, name)
    ]
    if problems:
        raise ClaimError(problems)


def what_stays(group: Group) -> Group:
    """Return the objects of a group that stay: namespaces with their policies, tenants, and volumes."""
    if group.name in ("namespace", "runner", "tenants"):
        return group
    return replace(group, objects=tuple(each for each in group.objects if each.kind == "PersistentVolumeClaim"))

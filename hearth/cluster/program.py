"""What `pulumi up` runs: load the claim out of Pulumi's configuration, compile it, hand it to the platform."""

import datetime
import time
from collections.abc import Mapping
from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG, is_config_secret
from pydantic import ValidationError

from hearth.claim.claim import Claim
from hearth.claim.loader import LoadedClaim, load_claim_values
from hearth.claim.names import NAMESPACE
from hearth.claim.problems import ClaimError
from hearth.claim.resolver import system_resolver
from hearth.cluster.platform import Platform
from hearth.cluster.switched_off import NOTICE, as_if_enabled, is_switched_off, require_unchanged
from hearth.environment import compile_environment
from hearth.evidence.document import is_timestamp
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.cluster import STACK_KUBECONFIG, Cluster
from hearth.kubeapi.errors import ClusterError, OperatorError

CLAIM_OUTPUT = "claim"
"""Stack output with the deployed claim."""
EVIDENCE_OUTPUT = "evidence"
"""Stack output with what is remembered of the evidence that decided."""
CLUSTER_OUTPUT = "cluster"
"""Stack output with the identity of the cluster that is deployed to."""
ENVIRONMENT_OUTPUT = "environment"
"""Stack output with what the environment is called, and after it what it was called before."""
READS = 20
"""How often the outputs of the stack are read before its state counts as unreadable."""
READ_PAUSE_SECONDS = 0.25
"""Seconds between two readings."""


def deployed_outputs() -> Mapping[str, object]:
    """Return the outputs of this stack as the last update left them; none before the first.

    Raises:
        pulumi.RunError: the state cannot be read.
    """
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    for attempt in range(1, READS + 1):
        try:
            result = pulumi.runtime.invoke("pulumi:pulumi:readStackOutputs", {"name": name})
        except Exception as error:
            # Pulumi says no more than its text. It writes the very file when the update begins, and not at one stroke.
            if "failed to load checkpoint" not in str(error):
                raise
            if attempt == READS:
                raise pulumi.RunError(
                    f"the state of the stack {name} cannot be read. Look at the back end that keeps it "
                    "(`pulumi stack export` reads the same), and run the same command again"
                ) from None
            time.sleep(READ_PAUSE_SECONDS)
        else:
            return (result.value or {}).get("outputs") or {}
    raise AssertionError("the last attempt returns or raises")


def deployed_claim(outputs: Mapping[str, object]) -> Claim | None:
    """Return the claim that this stack deployed last; its addresses are not resolved again (S3-25).

    A claim that this version cannot read counts as none: then every address is resolved.

    Args:
        outputs: the outputs of the stack.
    """
    text = outputs.get(CLAIM_OUTPUT)
    if not isinstance(text, str):
        return None
    try:
        return Claim.model_validate_json(text)
    except ValidationError:
        return None


def believed_evidence(outputs: Mapping[str, object]) -> dict[str, str]:
    """Return what the last deployment remembered of its evidence; nothing before the first.

    Args:
        outputs: the outputs of the stack.
    """
    recorded = outputs.get(EVIDENCE_OUTPUT)
    if not isinstance(recorded, Mapping):
        return {}
    return {str(key): value for key, value in recorded.items() if isinstance(value, str) and is_timestamp(value)}


def _refused(error: ClaimError) -> pulumi.RunError:
    return pulumi.RunError(f"the claim is refused; nothing was changed\n{error}")


def load(values: Mapping[str, object], deployed: Claim | None) -> LoadedClaim:
    """Load the claim, and say everything that is wrong with it at once.

    Args:
        values: the stack's configuration by key.
        deployed: the claim that was deployed last.

    Raises:
        pulumi.RunError: the claim is refused; nothing has been declared by then.
    """
    try:
        return load_claim_values(
            values,
            base=Path(pulumi.get_root_directory()),
            stack=pulumi.get_stack(),
            resolver=system_resolver,
            deployed=deployed,
        )
    except ClaimError as error:
        raise _refused(error) from None


def cluster_of(loaded: LoadedClaim, outputs: Mapping[str, object]) -> KubernetesApi | None:
    """Return the cluster that this stack is deployed to; none where nothing is declared and nothing was.

    Args:
        loaded: the claim, and the stack's configuration that names the cluster.
        outputs: the outputs of the stack. One that an older version deployed has no identity of a cluster yet.

    Raises:
        ClusterError: nothing names a cluster, or it cannot be used, or it is another one than before.
    """
    recorded = outputs.get(CLUSTER_OUTPUT)
    if not loaded.claim.llm.enabled and recorded is None:
        return None
    cluster = Cluster.named(stack=loaded.other_config)
    if cluster.kubeconfig == loaded.other_config.get(STACK_KUBECONFIG) and cluster.is_content:
        _require_encrypted(STACK_KUBECONFIG)
    kubernetes = KubernetesApi(cluster)
    if recorded is not None:
        kubernetes.require(str(recorded))
    # First of all, so that it is recorded whatever becomes of the rest.
    pulumi.export(CLUSTER_OUTPUT, kubernetes.identity)
    return kubernetes


def _require_encrypted(key: str) -> None:
    """Refuse a kubeconfig that is not encrypted: Pulumi keeps the whole configuration in the state as it is."""
    if not is_config_secret(key):
        raise ClusterError(
            f"{key} of the stack is a kubeconfig with its keys, and is not encrypted: "
            f"`pulumi config set --secret {key} < FILE`, or give the path of a file in its place."
        )


def known_as(loaded: LoadedClaim, outputs: Mapping[str, object]) -> tuple[str, ...]:
    """Return what this environment was called before, and record what it is called now.

    Args:
        loaded: the claim.
        outputs: the outputs of the stack. What an older version deployed is called as the stack is.
    """
    recorded = outputs.get(ENVIRONMENT_OUTPUT)
    names = [str(name) for name in recorded] if isinstance(recorded, list) else [loaded.stack]
    former = tuple(name for name in names if name != loaded.environment)
    pulumi.export(ENVIRONMENT_OUTPUT, [loaded.environment, *former])
    return former


def run() -> None:
    """Declare the platform of this stack.

    Raises:
        pulumi.RunError: the claim, the trust store or the cluster is refused; nothing has been declared by then.
    """
    outputs = deployed_outputs()
    deployed = deployed_claim(outputs)
    loaded = load(CONFIG.get(), deployed)
    try:
        kubernetes = cluster_of(loaded, outputs)
        off = kubernetes is not None and is_switched_off(loaded, deployed, kubernetes, NAMESPACE)
        meant = as_if_enabled(loaded) if off else loaded
        if off:
            pulumi.log.warn(str(NOTICE))
            require_unchanged(meant, deployed)
        environment = compile_environment(
            meant, now=datetime.datetime.now(datetime.UTC), believed=believed_evidence(outputs)
        )
        former = known_as(loaded, outputs)
        Platform(pulumi.get_stack(), environment.topology, environment.artefacts, kubernetes, former, off=off)
    except ClaimError as error:
        raise _refused(error) from None
    except OperatorError as error:
        raise pulumi.RunError(f"{error}\nNothing was changed.") from None
    for notice in environment.warnings:
        pulumi.log.warn(str(notice))
    # Encrypted, because it names the hosts of a private network, and because it would fill the screen.
    pulumi.export(CLAIM_OUTPUT, pulumi.Output.secret(loaded.claim.model_dump_json(by_alias=True)))
    pulumi.export("snapshot", environment.artefacts.snapshot_sha256)
    pulumi.export(EVIDENCE_OUTPUT, dict(environment.remembered))
    pulumi.export("withheld", dict(environment.artefacts.withheld))

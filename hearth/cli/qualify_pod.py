"""Measuring an endpoint in a Pod: what is looked at before and after the Job, and what of its answer is believed."""

import datetime
import sys

from pydantic import ValidationError

from hearth.claim.loader import LoadedClaim
from hearth.cluster.measured_pod import measured_pod, seen
from hearth.cluster.runner_job import measure
from hearth.compile.manifests.groups import known_groups
from hearth.environment import compile_environment
from hearth.evidence.document import Statement
from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.errors import ClusterError
from hearth.topology.upstreams import Upstream


def measured_in_cluster(
    kubernetes: KubernetesApi,
    loaded: LoadedClaim,
    upstream: Upstream,
    *,
    key_id: str,
    previous_sha256: str | None,
) -> Statement:
    """Measure an endpoint by a Job in the cluster.

    Args:
        kubernetes: the cluster.
        loaded: the claim.
        upstream: an endpoint in a Pod.
        key_id: key that will sign.
        previous_sha256: digest of the document that this one supersedes.

    Raises:
        ClusterError: nothing was measured; the message says why.
        ClaimError: there is no image to measure with.
    """
    compiled = compile_environment(loaded, now=datetime.datetime.now(datetime.UTC))
    topology = compiled.topology
    made = known_groups(topology, compiled.artefacts)
    before = measured_pod(kubernetes, topology, upstream, made)
    arguments = ["--key-id", key_id, *(["--previous", previous_sha256] if previous_sha256 else [])]
    ran = measure(kubernetes, topology, upstream, loaded, before, arguments, told=_told)
    try:
        statement = Statement.model_validate_json(ran.statement)
    except ValidationError:
        raise ClusterError(
            "the run answered with no statement of this version: build the image of Hearth's own processes again"
        ) from None
    seen_from = statement.runner_vantage
    if seen_from is None or seen_from.source_network_namespace.pod_uid != ran.pod_uid:
        raise ClusterError("the run does not say that it stood in the Pod that was started for it; nothing was stored")
    if seen(kubernetes, topology, upstream, made) != (before.facts, before.address):
        raise ClusterError(f"the Pod of {upstream.id.name} was replaced during the run; run it again")
    return statement


def _told(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

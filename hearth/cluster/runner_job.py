"""The Job that measures an endpoint from inside the cluster, and its end (S4-91, S4-94).

It gets the claim, the endpoint's credential and what the Kubernetes API says of the Pod, and writes what it saw to its
log. No private key goes into the cluster: whoever started it signs.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from hearth.claim.loader import LoadedClaim
from hearth.cluster.measured_pod import MeasuredPod
from hearth.compile.images import image
from hearth.compile.manifests.common import (
    TEMPORARY,
    config_volume,
    container,
    empty_dir,
    labels,
    mount,
    pod_template,
    resources,
    secret_volume,
)
from hearth.compile.manifests.runner import SERVICE_ACCOUNT
from hearth.compile.names import ENVIRONMENT_LABEL, ROLE_LABEL, RUNNER_NAMESPACE
from hearth.kubeapi.client import KubernetesApi, Object
from hearth.kubeapi.errors import ClusterError
from hearth.kubeapi.pods import why_not_ready
from hearth.topology.topology import Topology
from hearth.topology.upstreams import Upstream

STATEMENT: Final = "STATEMENT "
"""Begins the line of the log that holds what was seen, as JSON."""
PROJECT: Final = "/project"
"""Folder of the claim in the Pod."""
ORDER: Final = "/run/order"
"""Folder of the credential, the CAs and the facts in the Pod."""
MOST_BYTES: Final = 900_000
"""Largest claim with its trust bundles: a ConfigMap holds a megabyte."""
STARTUP_SECONDS: Final = 180
"""How long its Pod may take to start."""
LONGEST_SECONDS: Final = 7_200
"""How long a run may take."""

_PAUSE_SECONDS: Final = 1.0
_JOBS: Final = f"/apis/batch/v1/namespaces/{RUNNER_NAMESPACE}/jobs"
_CONFIG_MAPS: Final = f"/api/v1/namespaces/{RUNNER_NAMESPACE}/configmaps"
_SECRETS: Final = f"/api/v1/namespaces/{RUNNER_NAMESPACE}/secrets"


@dataclass(frozen=True)
class Measured:
    """What a run came to."""

    statement: str
    """What was seen, as JSON; not signed."""
    pod_uid: str
    """UID of the Pod that it ran in."""


def files_of(loaded: LoadedClaim) -> dict[str, str]:
    """Return files that load as this claim, by their path in the project.

    Args:
        loaded: the claim.

    Raises:
        ClusterError: they do not fit into a ConfigMap.
    """
    found = {"Pulumi.yaml": "name: hearth\nruntime: python\n"}
    # Of the stack file the claim alone: the rest, such as a kubeconfig, is nobody's business there.
    claim = loaded.claim.model_dump(mode="json", by_alias=True, exclude_unset=True)
    config = {f"hearth:{key}": value for key, value in claim.items()}
    found[f"stacks/Pulumi.{loaded.stack}.yaml"] = json.dumps({"config": config}, indent=1)
    for bundle, declared in loaded.claim.trust_bundles.items():
        found[declared.file] = loaded.bundles[bundle]
    size = sum(len(text.encode()) for text in found.values())
    if size > MOST_BYTES:
        raise ClusterError(f"the claim and its trust bundles have {size} bytes, and {MOST_BYTES} fit into a ConfigMap")
    return found


def manifests(
    name: str, topology: Topology, upstream: Upstream, files: Mapping[str, str], pod: MeasuredPod, arguments: list[str]
) -> list[Object]:
    """Return the ConfigMap, the Secret and the Job of a run.

    Args:
        name: name of all three.
        topology: what the claim declares.
        upstream: the endpoint.
        files: the project's files by path.
        pod: the Pod behind the endpoint.
        arguments: arguments of `hearth measure` beyond those that say where things lie.
    """
    meta = {
        "name": name,
        "namespace": RUNNER_NAMESPACE,
        "labels": {
            **labels(SERVICE_ACCOUNT, "runner"),
            **({ENVIRONMENT_LABEL: topology.environment} if topology.environment else {}),
        },
    }
    paths = sorted(files)
    keys = {path: f"file-{number}" for number, path in enumerate(paths)}
    facts = {
        "networkNamespace": pod.facts.network_namespace.model_dump(mode="json", by_alias=True),
        "isolation": dict(pod.facts.isolation),
    }
    order = {"facts.json": json.dumps(facts), "authorities.pem": pod.authorities, "credential": pod.credential or ""}
    profile = image(topology.policy, "serve")
    program = container(
        "runner",
        profile,
        args=[
            "measure",
            upstream.id.name,
            "-f",
            f"{PROJECT}/{next(path for path in paths if path.startswith('stacks/'))}",
            *("--facts", f"{ORDER}/facts.json", "--authorities", f"{ORDER}/authorities.pem"),
            *(("--credential", f"{ORDER}/credential") if pod.credential else ()),
            *("--raw-address", pod.address),
            *arguments,
        ],
        environment=[
            {"name": "HOME", "value": TEMPORARY},
            {"name": "POD_UID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}},
        ],
        resources=resources(cpu="100m", memory="128Mi", memory_limit="512Mi"),
        mounts=[
            mount("project", PROJECT, read_only=True),
            mount("order", ORDER, read_only=True),
            mount("tmp", TEMPORARY),
        ],
    )
    template = pod_template(
        {**labels(SERVICE_ACCOUNT, "runner"), ROLE_LABEL: "runner"},
        image=profile,
        service_account=SERVICE_ACCOUNT,
        grace_seconds=5,
        containers=[program],
        volumes=[
            config_volume("project", name, {keys[path]: path for path in paths}),
            secret_volume("order", name, sorted(order)),
            empty_dir("tmp", "64Mi"),
        ],
        restartPolicy="Never",
    )
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": meta,
            "immutable": True,
            "data": {keys[path]: files[path] for path in paths},
        },
        {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "immutable": True, "stringData": order},
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": meta,
            "spec": {
                "backoffLimit": 0,
                "activeDeadlineSeconds": LONGEST_SECONDS,
                # If whoever started it is gone, so is it in an hour.
                "ttlSecondsAfterFinished": 3_600,
                "template": template,
            },
        },
    ]


def measure(
    kubernetes: KubernetesApi,
    topology: Topology,
    upstream: Upstream,
    loaded: LoadedClaim,
    pod: MeasuredPod,
    arguments: list[str],
    *,
    told: Callable[[str], None],
) -> Measured:
    """Run the Job and return what it saw; nothing of it is left.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.
        upstream: the endpoint.
        loaded: the claim.
        pod: the Pod behind the endpoint.
        arguments: arguments of `hearth measure` beyond those that say where things lie.
        told: is told of each line of the run as it comes.

    Raises:
        ClusterError: another run is under way, the Job does not start or ends without a statement, or the Kubernetes
            API refuses something.
    """
    name = f"qualify-{upstream.id.name[:40]}-{secrets.token_hex(3)}"
    with _present(kubernetes, manifests(name, topology, upstream, files_of(loaded), pod, arguments)):
        return _followed(kubernetes, name, told)


@contextmanager
def _present(kubernetes: KubernetesApi, objects: list[Object]) -> Iterator[None]:
    """Have the Job there with what belongs to it, which goes with it, whoever deletes it."""
    _refuse_beside(_under_way(kubernetes))
    config_map, secret, job = objects
    name = job["metadata"]["name"]
    made = kubernetes.post("create the run's Job", _JOBS, job)
    try:
        # Somebody else may have looked at the same moment.
        _refuse_beside([each for each in _under_way(kubernetes) if each != name])
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": made["metadata"]["uid"]}
        for what, path, each in (("ConfigMap", _CONFIG_MAPS, config_map), ("Secret", _SECRETS, secret)):
            owned = {**each, "metadata": {**each["metadata"], "ownerReferences": [owner]}}
            kubernetes.post(f"create the run's {what}", path, owned)
        yield
    finally:
        kubernetes.delete("delete the run's Secret", f"{_SECRETS}/{name}")
        kubernetes.delete("delete the run's ConfigMap", f"{_CONFIG_MAPS}/{name}")
        kubernetes.delete("delete the run's Job", f"{_JOBS}/{name}?propagationPolicy=Background")


def _under_way(kubernetes: KubernetesApi) -> list[str]:
    return [
        str(job["metadata"]["name"])
        for job in (kubernetes.get("list the runs", _JOBS) or {}).get("items", [])
        if job["metadata"]["labels"].get("app.kubernetes.io/name") == SERVICE_ACCOUNT
        and not any(condition["status"] == "True" for condition in job.get("status", {}).get("conditions") or ())
    ]


def _refuse_beside(others: list[str]) -> None:
    if others:
        raise ClusterError(
            f"a run is under way in {RUNNER_NAMESPACE} ({', '.join(others)}), and two would be each other's load. "
            f"Wait for it, or end it: `kubectl -n {RUNNER_NAMESPACE} delete job {others[0]}`"
        )


def _followed(kubernetes: KubernetesApi, name: str, told: Callable[[str], None]) -> Measured:
    shown, started = 0, time.monotonic()
    while time.monotonic() - started < LONGEST_SECONDS:
        pods = kubernetes.pods(RUNNER_NAMESPACE, f"batch.kubernetes.io/job-name={name}")
        phase = str(pods[0]["status"].get("phase")) if pods else "Pending"
        if phase == "Pending":
            if time.monotonic() - started > STARTUP_SECONDS:
                why = why_not_ready(pods[0] if pods else None)
                more = f"`kubectl -n {RUNNER_NAMESPACE} describe pods` says more"
                raise ClusterError(f"the run's Pod does not start: {why or more}")
            time.sleep(_PAUSE_SECONDS)
            continue
        # Asked for after the phase, so that the log of one that has ended is whole.
        lines = kubernetes.log(RUNNER_NAMESPACE, pods[0]["metadata"]["name"]).splitlines(keepends=True)
        whole = [line.rstrip("\n") for line in lines if line.endswith("\n")]
        for line in whole[shown:]:
            if line.startswith(STATEMENT):
                return Measured(line.removeprefix(STATEMENT), str(pods[0]["metadata"]["uid"]))
            told(line)
        shown = len(whole)
        if phase in ("Succeeded", "Failed"):
            raise ClusterError("the run has ended without a statement; the lines above say why")
        time.sleep(_PAUSE_SECONDS)
    raise ClusterError(f"the run has not ended within {LONGEST_SECONDS} s")

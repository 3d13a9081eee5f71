"""What holds for every Pod and every object of every claim: one table of rules, one row a rule."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hearth.claim.claim import Claim
from hearth.compile.manifests.common import Manifest
from tests.unit.compile.manifests.samples import containers, everything, pod_templates, rendered, variants

DIGEST = re.compile(
    r"^[a-z0-9.-]+(/[a-z0-9._-]+)+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}$|^[a-z0-9./_-]+@sha256:[0-9a-f]{64}$"
)
LOCAL = re.compile(r"^localhost/hearth/[a-z0-9-]+:[A-Za-z0-9._-]+$")
CHECKS = ("httpGet", "tcpSocket", "exec")

GPU = "nvidia.com/gpu"

Template = dict[str, Any]


def _security(template: Template) -> Any:
    return template["spec"]["securityContext"]


def _init(template: Template) -> list[dict[str, Any]]:
    return template["spec"].get("initContainers", [])


def _stays(container: dict[str, Any]) -> bool:
    return container.get("restartPolicy") == "Always"


def _has_gpu(container: dict[str, Any]) -> bool:
    return GPU in container["resources"]["limits"]


POD_RULES: dict[str, Callable[[Template], bool]] = {
    "no token": lambda t: t["spec"]["automountServiceAccountToken"] is False,
    "its own ServiceAccount": lambda t: t["spec"]["serviceAccountName"].startswith("llm-"),
    "no Service variables": lambda t: t["spec"]["enableServiceLinks"] is False,
    "no host namespaces": lambda t: not {"hostNetwork", "hostPID", "hostIPC"} & set(t["spec"]),
    "no host path": lambda t: not any("hostPath" in volume for volume in t["spec"].get("volumes", [])),
    "not root": lambda t: _security(t)["runAsNonRoot"] is True and _security(t)["runAsUser"] > 0,
    "group of the volumes": lambda t: (
        _security(t)["fsGroup"] > 0 and _security(t)["fsGroupChangePolicy"] == "OnRootMismatch"
    ),
    "seccomp": lambda t: _security(t)["seccompProfile"] == {"type": "RuntimeDefault"},
    "grace": lambda t: t["spec"]["terminationGracePeriodSeconds"] >= 10,
    "role for policies": lambda t: (
        t["metadata"]["labels"]["hearth.dev/role"]
        in {"gateway", "guard", "migrations", "database", "cache", "runtime", "mock"}
    ),
    "standard labels": lambda t: (
        {
            "app.kubernetes.io/name",
            "app.kubernetes.io/component",
            "app.kubernetes.io/part-of",
            "app.kubernetes.io/managed-by",
        }
        <= set(t["metadata"]["labels"])
    ),
    "bounded emptyDir": lambda t: all(
        "sizeLimit" in volume["emptyDir"] for volume in t["spec"].get("volumes", []) if "emptyDir" in volume
    ),
    "every volume is used and declared": lambda t: (
        {volume["name"] for volume in t["spec"].get("volumes", [])}
        == {mount["name"] for entry in containers(t) for mount in entry.get("volumeMounts", [])}
    ),
    "secret files for the group alone": lambda t: all(
        volume["secret"]["defaultMode"] == 0o440 and volume["secret"]["items"]
        for volume in t["spec"].get("volumes", [])
        if "secret" in volume
    ),
    "port names once": lambda t: (
        len(ports := [p["name"] for c in containers(t) for p in c.get("ports", [])]) == len(set(ports))
    ),
}

CONTAINER_RULES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "no escalation": lambda c: (
        c["securityContext"]["allowPrivilegeEscalation"] is False and c["securityContext"]["privileged"] is False
    ),
    "no capability": lambda c: c["securityContext"]["capabilities"] == {"drop": ["ALL"]},
    # What puts a GPU's devices into a container writes to its root file system first.
    "read-only root": lambda c: c["securityContext"]["readOnlyRootFilesystem"] is not _has_gpu(c),
    "numeric user": lambda c: (
        c["securityContext"]["runAsNonRoot"] is True
        and c["securityContext"]["runAsUser"] > 0
        and c["securityContext"]["runAsGroup"] > 0
    ),
    "pull policy": lambda c: c["imagePullPolicy"] == "IfNotPresent",
    "argument vector, not an image's entry point": lambda c: len(c["command"]) >= 1,
    "requests": lambda c: {"cpu", "memory", "ephemeral-storage"} <= set(c["resources"]["requests"]),
    "limits without CPU": lambda c: set(c["resources"]["limits"]) - {GPU} == {"memory", "ephemeral-storage"},
    "a GPU is asked for and given alike": lambda c: (
        c["resources"]["limits"].get(GPU) == c["resources"]["requests"].get(GPU)
    ),
    "last words": lambda c: c["terminationMessagePolicy"] == "FallbackToLogsOnError",
    "no inherited environment": lambda c: "envFrom" not in c,
    "no host port": lambda c: not any("hostPort" in port for port in c.get("ports", [])),
    # A part of a ConfigMap or Secret would never be renewed; a volume of a model has parts.
    "whole volumes": lambda c: all(
        mount["name"] == "models" for mount in c.get("volumeMounts", []) if "subPath" in mount
    ),
    "patient probes": lambda c: all(
        c[probe]["timeoutSeconds"] >= 5 for probe in ("startupProbe", "readinessProbe", "livenessProbe") if probe in c
    ),
    "patient liveness": lambda c: (
        "livenessProbe" not in c or c["livenessProbe"]["failureThreshold"] * c["livenessProbe"]["periodSeconds"] >= 90
    ),
    "one check a probe": lambda c: all(
        sum(check in c[probe] for check in CHECKS) == 1
        for probe in ("startupProbe", "readinessProbe", "livenessProbe")
        if probe in c
    ),
}


@pytest.fixture(params=sorted(variants()))
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def claim(variant: str) -> Claim:
    return variants()[variant]


@pytest.fixture
def manifests(variant: str) -> Sequence[Manifest]:
    return rendered(variant)


def test_there_is_something_to_hold_to_the_rules(manifests: Sequence[Manifest]) -> None:
    names = {name.split("/")[1] for name, _ in pod_templates(manifests)}
    assert "llm-gateway" in names
    assert len(manifests) > 20


@pytest.mark.parametrize("rule", POD_RULES)
def test_every_pod(rule: str, manifests: Sequence[Manifest]) -> None:
    for name, template in pod_templates(manifests):
        assert POD_RULES[rule](template), f"{name}: {rule}"


@pytest.mark.parametrize("rule", CONTAINER_RULES)
def test_every_container(rule: str, manifests: Sequence[Manifest]) -> None:
    for name, template in pod_templates(manifests):
        for container in containers(template):
            assert CONTAINER_RULES[rule](container), f"{name} {container['name']}: {rule}"


def test_what_stays_is_probed(manifests: Sequence[Manifest]) -> None:
    for name, template in pod_templates(manifests):
        if name.startswith("Job/"):
            continue
        staying = [c for c in containers(template) if c in template["spec"]["containers"] or _stays(c)]
        for container in staying:
            assert {"startupProbe", "livenessProbe"} <= set(container), f"{name} {container['name']}"
        for container in template["spec"]["containers"]:
            assert "readinessProbe" in container, f"{name} {container['name']}"


def test_images_are_pinned_by_digest_or_of_the_local_build(claim: Claim, manifests: Sequence[Manifest]) -> None:
    wanted = LOCAL if claim.policy.images == "localBuild" else DIGEST
    for name, template in pod_templates(manifests):
        for container in containers(template):
            assert wanted.match(container["image"]), f"{name} {container['name']}: {container['image']}"


def test_services_stay_inside_and_have_prefixed_names(manifests: Sequence[Manifest]) -> None:
    services = [manifest for manifest in manifests if manifest["kind"] == "Service"]
    assert services
    for service in services:
        assert service["spec"]["type"] == "ClusterIP"
        assert "externalIPs" not in service["spec"]
        assert re.match(r"^(llm-|vllm-inference$|vllm-[a-z0-9-]+-inference$)", service["metadata"]["name"])
    assert not {"Ingress", "HTTPRoute", "Gateway"} & {manifest["kind"] for manifest in manifests}


def test_services_select_pods_with_their_ports(manifests: Sequence[Manifest]) -> None:
    templates = [template for _, template in pod_templates(manifests)]
    for service in (manifest for manifest in manifests if manifest["kind"] == "Service"):
        wanted = service["spec"]["selector"].items()
        selected = [template for template in templates if wanted <= template["metadata"]["labels"].items()]
        assert len(selected) == 1, service["metadata"]["name"]
        offered = {port["name"] for entry in containers(selected[0]) for port in entry.get("ports", [])}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= offered


def test_workloads_select_their_own_pods_alone(manifests: Sequence[Manifest]) -> None:
    selectors = []
    for manifest in manifests:
        selector = manifest.get("spec", {}).get("selector", {})
        if manifest["kind"] in ("Deployment", "StatefulSet"):
            labels = manifest["spec"]["template"]["metadata"]["labels"]
            assert selector["matchLabels"].items() <= labels.items()
            selectors.append(json.dumps(selector["matchLabels"]))
    assert len(selectors) == len(set(selectors))


def test_everything_that_is_named_is_there(manifests: Sequence[Manifest]) -> None:
    present = {(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests}
    made_elsewhere = re.compile(r"^llm-trust-in-cluster$")
    for name, template in pod_templates(manifests):
        assert ("ServiceAccount", template["spec"]["serviceAccountName"]) in present, name
        for volume in template["spec"].get("volumes", []):
            sources = [volume, *volume.get("projected", {}).get("sources", [])]
            for source in sources:
                if "configMap" in source and not made_elsewhere.match(source["configMap"]["name"]):
                    assert ("ConfigMap", source["configMap"]["name"]) in present, f"{name}: {volume['name']}"
                if "persistentVolumeClaim" in source:
                    claimed = source["persistentVolumeClaim"]["claimName"]
                    assert ("PersistentVolumeClaim", claimed) in present, name


def test_no_object_is_there_twice(manifests: Sequence[Manifest]) -> None:
    keys = [(m["kind"], m["metadata"].get("namespace"), m["metadata"]["name"]) for m in manifests]
    assert len(keys) == len(set(keys))


def test_every_object_says_whose_it_is(manifests: Sequence[Manifest]) -> None:
    for manifest in manifests:
        labels = manifest["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "hearth", manifest["metadata"]["name"]
        assert labels["app.kubernetes.io/managed-by"] == "hearth", manifest["metadata"]["name"]


def test_names_fit_kubernetes(manifests: Sequence[Manifest]) -> None:
    for manifest in manifests:
        name = manifest["metadata"]["name"]
        assert re.match(r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", name)
        assert len(name) <= 63, name
        for value in manifest["metadata"]["labels"].values():
            assert re.match(r"^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$", value), value


def test_config_maps_are_immutable_and_named_by_their_content(manifests: Sequence[Manifest]) -> None:
    for config in (manifest for manifest in manifests if manifest["kind"] == "ConfigMap"):
        assert config["immutable"] is True
        assert re.search(r"-[0-9a-f]{10}$", config["metadata"]["name"])
        assert sum(len(text.encode()) for text in config["data"].values()) < 900_000


def test_secrets_are_referred_to_and_never_rendered(manifests: Sequence[Manifest]) -> None:
    assert "Secret" not in {manifest["kind"] for manifest in manifests}
    for name, template in pod_templates(manifests):
        for container in containers(template):
            for entry in container.get("env", []):
                assert ("value" in entry) != ("valueFrom" in entry), f"{name} {entry['name']}"
                if re.search(r"KEY|PASSWORD|TOKEN|DATABASE_URL|CREDENTIAL", entry["name"]):
                    assert "secretKeyRef" in entry["valueFrom"], f"{name} {entry['name']}"


def test_the_same_claim_gives_the_same_bytes(claim: Claim) -> None:
    assert json.dumps(everything(claim)) == json.dumps(everything(claim))

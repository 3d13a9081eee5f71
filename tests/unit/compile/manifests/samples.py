"""Claims that the manifests are tested with: the four stacks of the project, and changes of them."""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hearth.claim.claim import Claim
from hearth.claim.loader import LoadedClaim, load_claim_file
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.groups import Group, GroupName, groups
from hearth.topology.resolve import resolve
from tests.support import claims
from tests.support.compiling import compile_claim

ADDRESSES = {
    "llm-cache": "10.96.0.11",
    "llm-database-address": "10.96.0.12",
    "llm-guard-0": "10.96.0.13",
    "llm-guard-1": "10.96.0.14",
}
"""Cluster addresses as a deployment learns them."""
ROOT = Path(__file__).resolve().parents[4]
STACKS = ("local", "home", "dev", "production")


@cache
def loaded(stack: str) -> LoadedClaim:
    return load_claim_file(ROOT / "stacks" / f"Pulumi.{stack}.yaml")


def values(stack: str = "local") -> dict[str, Any]:
    """The claim of a stack as a plain dictionary, to be changed."""
    config = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]
    return {key.removeprefix("hearth:"): value for key, value in config.items()}


def claim_of(claim: dict[str, Any]) -> Claim:
    return Claim.model_validate_json(json.dumps(claim))


def compiled(claim: Claim, bundles: dict[str, str] | None = None) -> Artefacts:
    return compile_claim(claim, bundles=bundles or {})


def found_groups(claim: Claim) -> tuple[Group, ...]:
    bundles = {bundle: f"PEM of {bundle}\n" for bundle in claim.trust_bundles}
    topology = resolve(claim)
    return groups(topology, compiled(claim, bundles), SecretNames.by_reference(topology), addresses=ADDRESSES)


def grouped(claim: Claim) -> dict[GroupName, list[Manifest]]:
    return {group.name: [each.manifest for each in group.objects] for group in found_groups(claim)}


def everything(claim: Claim) -> list[Manifest]:
    return [manifest for group in grouped(claim).values() for manifest in group]


@cache
def variants() -> dict[str, Claim]:
    """Claims that between them make every kind of Pod."""
    made = {stack: loaded(stack).claim for stack in STACKS}

    ollama = values()
    ollama["policy"]["images"] = "pinned"
    runtime = ollama["endpoints"]["gemma"]["runtime"]
    runtime["engine"] = "ollama"
    runtime["models"][0]["source"] = {"image": {"ref": f"registry.example/model@sha256:{'c' * 64}", "path": "/m.gguf"}}
    made["ollama"] = claim_of(ollama)

    library = json.loads(json.dumps(ollama))
    library["endpoints"]["gemma"]["runtime"]["models"][0]["source"] = {"ollama": "gemma3:270m"}
    library["deployments"]["gemma-local"]["model"] = "gemma3:270m"
    made["ollama-library"] = claim_of(library)

    hub = values()
    hub["policy"]["images"] = "pinned"
    hub["endpoints"]["gemma"]["runtime"]["models"][0]["source"] = {
        "huggingFace": {"repo": "google/gemma", "revision": "a" * 40, "file": "g.gguf"}
    }
    made["hugging-face"] = claim_of(hub)

    external = values()
    external["policy"]["images"] = "pinned"
    external["endpoints"], external["deployments"], external["aliases"] = {}, {}, {}
    external["trustBundles"] = {"db": {"file": "trust/db.pem", "version": 1, "sha256": "b" * 64}}
    external["llm"]["database"] = {
        "mode": "external",
        "host": "db.example",
        "cidrs": ["10.9.0.0/24"],
        "ownerCredential": "credential://database/owner",
        "gatewayCredential": "credential://database/gateway",
        "trustBundle": "db",
    }
    made["external-database"] = claim_of(external)

    gpu = values("production")
    gpu["llm"].update(gpuAcceleration=True, instances=[claims.instance("qwen")])
    made["gpu"] = claim_of(gpu)

    single = values()
    single["llm"]["gateway"]["replicas"] = 1
    made["one-replica"] = claim_of(single)
    return made


@cache
def rendered(variant: str) -> tuple[Manifest, ...]:
    """Everything of a variant, compiled once: nobody may change it."""
    return tuple(everything(variants()[variant]))


def pod_templates(manifests: Sequence[Manifest]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every Pod template, with the name of what makes its Pods."""
    for manifest in manifests:
        template = manifest.get("spec", {}).get("template")
        if template is not None:
            yield f"{manifest['kind']}/{manifest['metadata']['name']}", template


def containers(template: dict[str, Any]) -> list[dict[str, Any]]:
    """Every container of a Pod template, init containers and native sidecars first."""
    return [*template["spec"].get("initContainers", []), *template["spec"]["containers"]]


def one(manifests: Sequence[Manifest], kind: str, name: str | None = None) -> Manifest:
    """The one object of a kind, whose name begins with `name`."""
    (found,) = [
        manifest
        for manifest in manifests
        if manifest["kind"] == kind and (name is None or manifest["metadata"]["name"].startswith(name))
    ]
    return found


def container(template: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [entry for entry in containers(template) if entry["name"] == name]
    return found

"""Every artefact of an environment as files, for review and for GitOps. Secrets are in them by name alone."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.common import Object
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.groups import groups
from hearth.compile.manifests.services import fixed_addresses
from hearth.topology.topology import Topology
from hearth.yaml_text import yaml_text


def rendered_files(topology: Topology, artefacts: Artefacts) -> dict[str, str]:
    """Return the text of every file by its path, sorted by path. Equal arguments give equal bytes.

    Manifests are `manifests/<nn>-<kind>-<namespace>--<name>.yaml`, `nn` being the place of their group in the order of
    deployment, so that `kubectl apply -f` meets them in that order and a new one renames no other. Namespaces are 00.
    The name is the one without a digest of the content, so that a change of content is a change in one file. No name
    of an object has two hyphens in a row, so that no two of them share a file.

    Args:
        topology: the topology.
        artefacts: what it compiled to.

    Raises:
        ClaimError: something is declared that cannot be run as it is declared.
    """
    files: dict[str, str] = {
        "catalogue.json": _json([row.document() for row in artefacts.catalogue]),
        "snapshot.json": _json({"sha256": artefacts.snapshot_sha256, "snapshot": artefacts.snapshot}),
    }
    if artefacts.litellm_yaml:
        files["litellm/config.yaml"] = artefacts.litellm_yaml
        files["litellm/intake.json"] = artefacts.intake_json
    for folder, texts in _configurations(artefacts):
        files |= {f"{folder}/{name}": text for name, text in texts.items()}
    for path, found in _manifests(topology, artefacts):
        if path in files:
            raise ValueError(f"two manifests would be written to {path}")
        files[path] = yaml_text(found.manifest)
    return dict(sorted(files.items()))


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _configurations(artefacts: Artefacts) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "guard", artefacts.guard.files
    yield "front", artefacts.front.files
    for endpoint_id, sidecar in artefacts.sidecars.items():
        yield f"sidecars/{endpoint_id}", sidecar.files


def _manifests(topology: Topology, artefacts: Artefacts) -> Iterator[tuple[str, Object]]:
    found = groups(topology, artefacts, SecretNames.by_reference(topology), addresses=fixed_addresses(topology))
    for place, group in enumerate(found, start=1):
        for each in group.objects:
            order = 0 if each.kind == "Namespace" else place
            where = each.stable_name if each.namespace is None else f"{each.namespace}--{each.stable_name}"
            yield f"manifests/{order:02d}-{each.kind.lower()}-{where}.yaml", each

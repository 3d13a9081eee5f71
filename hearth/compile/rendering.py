"""Every artefact of an environment as files, for review and for GitOps. Secrets are in them by name alone."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from hearth.claim.claim import Claim
from hearth.compile.artefacts import Artefacts
from hearth.compile.manifests.common import Manifest
from hearth.compile.manifests.credentials import SecretNames
from hearth.compile.manifests.groups import groups


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as it is, so that a change of one line is one line of a review."""

    def ignore_aliases(self, _: Any) -> bool:
        """Write everything where it stands; a manifest has no `&` and `*`."""
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


def rendered_files(claim: Claim, artefacts: Artefacts) -> dict[str, str]:
    """Return the text of every file by its path, sorted by path. Equal arguments give equal bytes.

    Manifests are `manifests/<nn>-<kind>-<namespace>-<name>.yaml`, `nn` being the place of their group in the order of
    deployment, so that `kubectl apply -f` meets them in that order and a new one renames no other. Namespaces are 00.

    Args:
        claim: a claim that passed the rules.
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
    for folder, texts in _configurations(artefacts):
        files |= {f"{folder}/{name}": text for name, text in texts.items()}
    for path, manifest in _manifests(claim, artefacts):
        if path in files:
            raise ValueError(f"two manifests would be written to {path}")
        files[path] = yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return dict(sorted(files.items()))


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _configurations(artefacts: Artefacts) -> Iterator[tuple[str, Mapping[str, str]]]:
    yield "guard", artefacts.guard.files
    yield "front", artefacts.front.files
    for endpoint_id, sidecar in artefacts.sidecars.items():
        yield f"sidecars/{endpoint_id}", sidecar.files


def _manifests(claim: Claim, artefacts: Artefacts) -> Iterator[tuple[str, Manifest]]:
    for place, manifests in enumerate(groups(claim, artefacts, SecretNames.by_reference(claim)).values(), start=1):
        for manifest in manifests:
            kind, metadata = manifest["kind"], manifest["metadata"]
            order = 0 if kind == "Namespace" else place
            parts = (f"{order:02d}", kind.lower(), metadata.get("namespace"), metadata["name"])
            yield f"manifests/{'-'.join(part for part in parts if part)}.yaml", manifest

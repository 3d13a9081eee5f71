"""Go programs read what Hearth writes, and what it accepts from an operator, as Hearth means it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.claim.problems import ClaimError
from hearth.claim.reader import read_yaml
from hearth.compile.rendering import rendered_files
from hearth.topology.resolve import resolve
from hearth.yaml_text import yaml_text
from tests.support.compiling import compiled
from tests.support.go_readers import AWKWARD, TEXTS, read_by_kubectl, read_by_pulumi
from tests.unit.claim import examples


def _manifest(data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "read"}, "data": data}


def test_kubectl_reads_every_text_as_it_is() -> None:
    # JSON carries no half characters, and the API of Kubernetes no NUL.
    wanted = [_manifest({"texts": list(AWKWARD)}), _manifest({text: text for text in AWKWARD if text})]
    assert read_by_kubectl([yaml_text(manifest) for manifest in wanted]) == wanted


@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(TEXTS, min_size=200, max_size=300))
def test_kubectl_reads_generated_texts_as_they_are(texts: list[str]) -> None:
    wanted = [_manifest({"texts": texts})]
    assert read_by_kubectl([yaml_text(manifest) for manifest in wanted]) == wanted


def test_kubectl_reads_the_rendered_manifests_as_they_were_compiled() -> None:
    loaded = examples.load(examples.claim())
    files = rendered_files(resolve(loaded.claim), compiled())
    manifests = [text for path, text in files.items() if path.startswith("manifests/")]
    assert len(manifests) > 20
    assert read_by_kubectl(manifests) == [yaml.safe_load(text) for text in manifests]


@pytest.mark.parametrize("place", ["key", "value"])
def test_pulumi_reads_what_the_claim_accepts_without_quotes(place: str, tmp_path: Path) -> None:
    """Each word stands plain in a stack file; those that Hearth accepts there are the same words to Pulumi."""
    words = [word for word in AWKWARD if word.isprintable() and ": " not in word]
    accepted: dict[str, Any] = {}
    for number, word in enumerate(words):
        text = f"{word}: x" if place == "key" else f"x: {word}"
        try:
            document = read_yaml(f"config:\n  hearth:v{number}:\n    {text}\n".encode(), "stack")
        except ClaimError:
            continue
        value = document.value["config"][f"hearth:v{number}"]
        # Pulumi shows a value that is no mapping as text.
        if not document.problems and isinstance(value, dict):
            accepted[f"hearth:v{number}"] = (text, value)
    assert 10 < len(accepted) < len(words)
    file = "config:\n" + "".join(f"  {key}:\n    {text}\n" for key, (text, _) in accepted.items())
    read = read_by_pulumi(tmp_path, file)
    # Compared as JSON, where 1 and true are two.
    wanted = {key: value for key, (_, value) in accepted.items()}
    assert json.dumps(read, sort_keys=True) == json.dumps(wanted, sort_keys=True)

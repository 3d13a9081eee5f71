"""The lookup of a host's plan: what is wrong with the inventory is one message, never a traceback."""

from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]


def refusal(monkeypatch: pytest.MonkeyPatch, terms: Sequence[object], project: Path) -> str:
    spec = spec_from_file_location("host_plan_lookup", ROOT / "plugins/lookup/host_plan.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    lookup = module.LookupModule()
    monkeypatch.setattr(lookup, "set_options", lambda **_: None)
    monkeypatch.setattr(lookup, "get_option", {"environment": "home", "project": str(project)}.get)
    return str(lookup.run(terms)[0]["refused"])


@pytest.mark.parametrize(
    ("terms", "cause"),
    [
        ([["one", 1]], "holds 1"),
        ([[{"id": "one"}]], "holds {'id': 'one'}"),
        ([[None]], "holds None"),
        ([[["one"]]], "holds ['one']"),
        ([[]], "is empty"),
    ],
)
def test_endpoints_that_are_no_names(monkeypatch: pytest.MonkeyPatch, terms: list[object], cause: str) -> None:
    assert refusal(monkeypatch, terms, ROOT) == (
        f"hearth_endpoints has to be a list of endpoint ids, and {cause}. "
        "Name ids of endpoints of the claim there, such as [ollama-home]."
    )


def test_a_folder_without_claims_is_named_with_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = refusal(monkeypatch, ["one"], tmp_path)
    assert str(tmp_path) in found
    assert "Set hearth_project to the folder of the project" in found
    (tmp_path / "stacks").mkdir()
    assert f"(hearth_project: {tmp_path})" in refusal(monkeypatch, ["one"], tmp_path)

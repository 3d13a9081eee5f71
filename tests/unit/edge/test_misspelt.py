"""A variable that nothing reads is named, and nobody's own is."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plugin() -> Any:
    spec = importlib.util.spec_from_file_location("misspelt", ROOT / "plugins/lookup/misspelt.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_names_that_nothing_reads(plugin: Any) -> None:
    known = plugin.options(ROOT / "roles")
    assert plugin.misspelt(["hearth_endpiont", "hearth_xyzzy", "ollama_gpus", "edge_firewall_alowed"], known) == [
        "edge_firewall_alowed (is it edge_firewall_allowed?)",
        "hearth_endpiont (is it hearth_endpoint?)",
        "hearth_xyzzy",
        "ollama_gpus (is it ollama_gpu?)",
    ]
    assert (
        plugin.misspelt(["ansible_host", "ollama_models", "common_packages", "edge_cache", "hearth_hosts"], known) == []
    )


def test_what_the_playbooks_and_roles_set_themselves_is_nobodys_mistake(plugin: Any) -> None:
    """Facts of an earlier play are variables of the next one."""
    texts = [file.read_text(encoding="utf-8") for part in ("roles", "playbooks") for file in part_files(part)]
    names = {name for text in texts for name in re.findall(r"^ +(?:register: )?([a-z0-9_]+):? *", text, re.MULTILINE)}
    names |= {name for text in texts for name in re.findall(r"register: ([a-z0-9_]+)", text)}
    facts = {name for name in names if not name.startswith("__")} - local_variables(texts)
    assert {"hearth_plan", "common_tokens", "hearth_files"} <= facts
    assert plugin.misspelt(facts, plugin.options(ROOT / "roles")) == []


def part_files(part: str) -> list[Path]:
    return [file for file in sorted((ROOT / part).rglob("*.yml")) if "collections" not in file.parts]


def local_variables(texts: list[str]) -> set[str]:
    """Names below `vars:`, which end with their task."""
    found: set[str] = set()
    for text in texts:
        for block in re.findall(r"^( *)vars:.*\n((?:\1  .*\n|\n)+)", text, re.MULTILINE):
            found |= set(re.findall(r"^ +([a-z0-9_]+):", block[1], re.MULTILINE))
    return found - {"hearth_sidecar", "hearth_runtime"}


def test_every_documented_name_is_read(plugin: Any) -> None:
    documented = set(re.findall(r"`(hearth_[a-z0-9_]+)", (ROOT / "docs/edge.md").read_text(encoding="utf-8")))
    assert documented - {"hearth_edge"} <= set(plugin.READ)

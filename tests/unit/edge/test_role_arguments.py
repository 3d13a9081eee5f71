"""The roles know every field of a host's plan that they are given: Ansible refuses one that they do not name."""

import dataclasses
from pathlib import Path
from typing import Any

import yaml

from hearth.compile.host import HostModel

ROLES = Path(__file__).resolve().parents[3] / "roles"


def options(role: str, entry: str, argument: str) -> dict[str, Any]:
    specs = yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text())["argument_specs"]
    found: dict[str, Any] = specs[entry]["options"][argument]["options"]
    return found


def test_a_model_has_the_fields_that_the_role_names() -> None:
    assert set(options("common", "model", "common_model")) == {field.name for field in dataclasses.fields(HostModel)}

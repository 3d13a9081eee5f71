"""The example stacks are right, are what the machinery expects, and fit the schema."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hearth.claim.loader import load_claim_file
from hearth.claim.schema import stack_file_schema
from hearth.versions import versions

PROJECT = Path(__file__).resolve().parents[3]
STACKS = ("local", "home", "dev", "production")


def file(stack: str) -> Path:
    return PROJECT / "stacks" / f"Pulumi.{stack}.yaml"


def accepts(value: Any) -> bool:
    return jsonschema.Draft202012Validator(stack_file_schema()).is_valid(value)


@pytest.fixture
def local() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(file("local").read_text())
    return loaded


@pytest.mark.parametrize("stack", STACKS)
def test_the_stack_is_right(stack: str) -> None:
    loaded = load_claim_file(file(stack))
    assert (loaded.stack, loaded.base) == (stack, PROJECT)
    assert set(loaded.bundles) == set(loaded.claim.trust_bundles)


def test_no_stack_is_forgotten() -> None:
    assert {path.name for path in (PROJECT / "stacks").glob("*.yaml")} == {f"Pulumi.{stack}.yaml" for stack in STACKS}


@pytest.mark.parametrize("stack", STACKS)
def test_the_schema_accepts_the_stack(stack: str) -> None:
    assert accepts(yaml.safe_load(file(stack).read_text()))


@pytest.mark.parametrize("stack", STACKS)
def test_every_image_outside_local_has_a_digest(stack: str) -> None:
    for endpoint in load_claim_file(file(stack)).claim.endpoints.values():
        for model in endpoint.runtime.models if endpoint.runtime else ():
            if model.source.image is not None:
                assert ("@sha256:" in model.source.image.ref) is (stack != "local")


def test_local_names_the_pinned_model() -> None:
    claim = load_claim_file(file("local")).claim
    (endpoint,) = claim.endpoints.values()
    assert endpoint.runtime is not None
    (model,) = endpoint.runtime.models
    assert model.source.image is not None
    assert model.source.image.ref == versions()["IMAGE_MODEL_GEMMA3_270M"]
    assert model.digest == "sha256:" + versions()["MODEL_GEMMA3_270M_SHA256"]
    assert {
        name: sorted(app for app, item in tenant.apps.items() if item.llm) for name, tenant in claim.tenants.items()
    } == {
        "family": ["notes"],
        "guests": ["kiosk"],
    }


def test_trust_examples_hold_no_key() -> None:
    for path in (PROJECT / "trust").rglob("*.*"):
        assert "PRIVATE" not in path.read_text()


def test_the_schema_is_one() -> None:
    schema = stack_file_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    json.dumps(schema)


def test_every_field_of_the_schema_is_described() -> None:
    def undescribed(node: Any, path: str) -> list[str]:
        if isinstance(node, list):
            return [found for item in node for found in undescribed(item, path)]
        if not isinstance(node, dict):
            return []
        found = [
            f"{path}.{name}"
            for name, field in node.get("properties", {}).items()
            if isinstance(field, dict) and not field.get("description")
        ]
        return found + [item for key, value in node.items() for item in undescribed(value, f"{path}.{key}")]

    assert undescribed(stack_file_schema(), "") == []


@pytest.mark.parametrize(
    "path",
    [
        ("extra",),
        ("config", "hearth:extra"),
        ("config", "extra"),
        ("config", "hearth:llm", "extra"),
        ("config", "hearth:endpoints", "gemma", "extra"),
        ("config", "hearth:endpoints", "gemma", "networkProfile", "tls", "verifyHostname"),
        ("config", "hearth:endpoints", "gemma", "endpointAuth", "token"),
        ("config", "hearth:tenants", "family", "apps", "notes", "extra"),
        ("config", "hearth:policy", "extra"),
    ],
)
def test_the_schema_refuses_unknown_fields(local: dict[str, Any], path: tuple[str, ...]) -> None:
    owner = local
    for part in path[:-1]:
        owner = owner[part]
    owner[path[-1]] = "x"
    assert not accepts(local)


def test_the_schema_leaves_other_programs_alone(local: dict[str, Any]) -> None:
    local["config"]["kubernetes:context"] = {"secure": "x"}
    local["encryptionsalt"] = "v1:x"
    assert accepts(local)

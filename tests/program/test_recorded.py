"""An environment that an older version deployed is known again: by the names of its resources, and of their providers.

`recorded/` has what the versions named there wrote into a state. A name that is recorded stays, or an alias leads from
it to the new one: otherwise `pulumi up` would make a second object and delete the first, be it a volume or a key.
"""

import base64
import hashlib
import importlib
import json
import pickletools
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dill
import pytest
from pulumi.dynamic import ResourceProvider
from pulumi.dynamic.dynamic import serialize_provider

import hearth
from tests.cluster import claims
from tests.support import pki
from tests.support.program import declare, example

RECORDED = {path.stem: json.loads(path.read_text()) for path in sorted(Path(__file__).parent.glob("recorded/*.json"))}


def urns(stack: str, folder: Path) -> list[dict[str, Any]]:
    """Return what the program declares: with the claim of the cluster tests for `test`, else with an example's."""
    if stack != "test":
        result = example(stack)
    else:
        authority = pki.Authority("scripted upstream CA")
        (folder / "ca.pem").write_text(authority.pem)
        values = claims.claim("ca.pem", hashlib.sha256(authority.pem.encode()).hexdigest(), 1)
        result = declare(stack, {f"hearth:{key}": value for key, value in values.items()}, root=folder)
    assert "refused" not in result, result["refused"]
    return list(result["declared"])


@pytest.mark.parametrize(
    ("version", "stack"), [(version, stack) for version, found in RECORDED.items() for stack in found["urns"]]
)
def test_every_recorded_resource_is_known_again(version: str, stack: str, tmp_path: Path) -> None:
    declared = urns(stack, tmp_path)
    assert len({entry["urn"] for entry in declared}) == len(declared), "one URN names one resource"
    known = {urn for entry in declared for urn in (entry["urn"], *entry["former"])}
    recorded = RECORDED[version]["urns"][stack]
    assert len(recorded) > 50
    assert sorted(set(recorded) - known) == []


def leaves(kind: type) -> Iterator[type]:
    """Return the classes below a class that have none below themselves."""
    below = kind.__subclasses__()
    yield from (leaf for one in below for leaf in leaves(one))
    if not below:
        yield kind


def providers() -> list[type]:
    """Return every provider class; hearth.intake belongs to LiteLLM's process and imports its libraries."""
    for module in pkgutil.walk_packages(hearth.__path__, "hearth."):
        if not module.name.startswith("hearth.intake"):
            importlib.import_module(module.name)
    found = {leaf for leaf in leaves(ResourceProvider) if leaf.__module__.startswith("hearth.")}
    return sorted(found, key=lambda leaf: leaf.__qualname__)


PROVIDERS = providers()


def test_the_providers_are_all_found() -> None:
    names = {f"{found.__module__}.{found.__qualname__}" for found in PROVIDERS}
    assert {name for recorded in RECORDED.values() for name in recorded["providers"]} <= names


@pytest.mark.parametrize("provider", PROVIDERS)
def test_pulumi_keeps_the_name_of_a_provider_and_nothing_else(provider: type[ResourceProvider]) -> None:
    pickled = base64.b64decode(serialize_provider(provider()))
    texts = [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str | bytes)]
    assert texts == [provider.__module__, provider.__qualname__]
    assert provider.serialize_as_secret_always is False


@pytest.mark.parametrize(
    ("name", "pickled"), [pair for recorded in RECORDED.values() for pair in recorded["providers"].items()]
)
def test_every_recorded_provider_can_still_be_loaded(name: str, pickled: str) -> None:
    loaded = dill.loads(base64.b64decode(pickled))
    assert f"{type(loaded).__module__}.{type(loaded).__qualname__}" == name
    assert isinstance(loaded, ResourceProvider)

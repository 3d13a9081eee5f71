"""Whatever `hearth check` passes also compiles, renders, becomes plans of hosts, and has names of its own."""

import contextlib
import copy
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from hearth.claim.claim import Claim
from hearth.claim.problems import ClaimError
from hearth.compile.host import host_plan
from hearth.compile.host_endpoints import host_endpoints
from hearth.compile.manifests.groups import known_groups
from hearth.compile.rendering import rendered_files
from hearth.topology.resolve import resolve
from tests.support.compiling import compile_claim
from tests.support.generated_claims import Generator
from tests.unit.claim.examples import load


def _declared(model: BaseModel, path: str = "") -> Iterator[str]:
    """Yield the fields that do not have their default, by shape and name."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if value != field.get_default(call_default_factory=True):
            yield f"{type(model).__name__}.{name}"
        below = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
        for item in below:
            if isinstance(item, BaseModel):
                yield from _declared(item)


def _works(values: dict[str, Any], *, rendered: bool) -> bool:
    """Check one claim, and everything that is made of it; return whether it was accepted."""
    try:
        loaded = load(values)
    except ClaimError:
        return False
    topology = resolve(loaded.claim)
    artefacts = compile_claim(loaded.claim, bundles=loaded.bundles)
    if rendered:
        assert all(rendered_files(topology, artefacts).values())
    assert yaml.safe_load(artefacts.litellm_yaml or "{}") == artefacts.litellm
    found = known_groups(topology, artefacts)
    names = Counter((each.kind, each.namespace, each.stable_name) for group in found for each in group.objects)
    assert [name for name, count in names.items() if count > 1] == []
    for ids in host_endpoints(topology).values():
        plan = host_plan(topology, ids)
        assert len({port.port for port in plan.open_ports}) == len(plan.open_ports)
        units = [program.unit for program in (*plan.runtimes, *plan.sidecars)]
        assert len(set(units)) == len(units)
    return True


def _run(seed: int, count: int) -> tuple[int, Counter[str]]:
    generator, accepted, fields = Generator(seed), 0, Counter[str]()
    for number in range(count):
        values = generator.claim()
        before = copy.deepcopy(values)
        try:
            # Writing YAML takes nine tenths of the time, and what is written was compiled before.
            accepted += _works(values, rendered=number % 10 == 0)
        except Exception as error:
            raise AssertionError(f"claim {number} of seed {seed}: {before}") from error
        with contextlib.suppress(ValueError):
            fields.update(set(_declared(Claim.model_validate_json(json.dumps(before)))))
    return accepted, fields


def _all_fields(kind: type[BaseModel]) -> set[str]:
    found, shapes = set(), [kind]
    while shapes:
        shape = shapes.pop()
        for name, field in shape.model_fields.items():
            found.add(f"{shape.__name__}.{name}")
            shapes += [
                other
                for other in _shapes_in(field.annotation)
                if f"{other.__name__}.{next(iter(other.model_fields))}" not in found
            ]
    return found


def _shapes_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _shapes_in(argument)


ONE_VALUE = {"NoAuth.mode", "Sidecar.profile_version", "NetworkProfile.termination"}
"""Fields that have no second value, or whose second value is another spelling."""


def test_what_check_passes_works() -> None:
    accepted, _ = _run(1, 300)
    assert accepted > 75


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_what_check_passes_works_20_000_times(seed: int) -> None:
    accepted, fields = _run(seed, 2_000)
    assert accepted > 600
    rare = {name: fields[name] for name in _all_fields(Claim) - ONE_VALUE if fields[name] < 10}
    assert rare == {}

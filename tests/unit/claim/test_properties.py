"""What holds for every claim: names are injective or refused; no mistake ends in a traceback or repeats a secret."""

import copy
import tempfile
from functools import reduce
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.claim.claim import Claim
from hearth.claim.loader import load_claim_file
from hearth.claim.names import endpoint_service, public_instance_name, tenant_namespace
from hearth.claim.problems import ClaimError
from tests.unit.claim.examples import PRICES, PROJECT, VALID, claim, load, problems

bounded = settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

NAMES = st.sampled_from(["a", "b", "a-b", "ab", "gateway", "local", "mesh", "llm", "default", "a--b"])
PUBLIC = st.sampled_from(["a", "a-b", "a/b", "b/a", "local/a", "share/a", "a.b", "A", "all-team-models", "", "a/"])
MODEL_IDS = st.sampled_from(["a", "a/b", "A/B", "a-b", "A-b", "b/a"])


def offered(found: Claim) -> list[str]:
    """Return every public name, in words of its own: what a gateway's list of models would be built from."""
    providers = [f"{provider.name}/{model.name}" for provider in found.llm.providers for model in provider.models]
    instances = [public_instance_name(instance.model_id) for instance in found.llm.instances]
    return [*found.aliases, *providers, *instances]


@bounded
@given(
    aliases=st.lists(PUBLIC, max_size=3),
    providers=st.lists(st.tuples(NAMES, st.lists(NAMES, min_size=1, max_size=2)), max_size=2),
    instances=st.lists(st.tuples(NAMES, MODEL_IDS), max_size=2),
    tenants=st.lists(st.tuples(NAMES, st.sampled_from([None, "tenant-a", "tenant-b", "kube-system"])), max_size=3),
)
def test_names_are_injective_or_refused(aliases: Any, providers: Any, instances: Any, tenants: Any) -> None:
    values = claim()
    values["aliases"] = dict.fromkeys(aliases, VALID["aliases"]["gemma"])
    values["llm"]["providers"] = [
        {
            **VALID["llm"]["providers"][0],
            "name": name,
            "apiKeyProperty": name.replace("-", "_") + "_api_key",
            "models": [{"name": model, "model": "m", **PRICES} for model in models],
        }
        for name, models in providers
    ]
    values["policy"]["vendor"]["allow"] = ["vendor", *dict.fromkeys(name for name, _ in providers)]
    values["llm"]["instances"] = [
        {**VALID["llm"]["instances"][0], "name": name, "modelId": model} for name, model in instances
    ]
    values["tenants"] = {name: {} if space is None else {"namespace": space} for name, space in tenants}
    try:
        found = load(values).claim
    except ClaimError:
        return
    names = offered(found)
    assert len(names) == len(set(names))
    assert not any(name.startswith(("local/", "share/", "mesh/")) for name in names)
    spaces = [tenant_namespace(name, tenant) for name, tenant in found.tenants.items()]
    assert len(spaces) == len(set(spaces))
    assert not any(space.startswith("kube-") or space in ("default", "system-llm") for space in spaces)
    services = {endpoint_service(name) for name in found.endpoints}
    assert not services & {"llm-gateway", "llm-database", "llm-cache"}
    properties = [provider.api_key_property for provider in found.llm.providers]
    assert len(properties) == len(set(properties))


def test_names_that_are_accepted_are_among_the_examples() -> None:
    """The property above is not empty: a claim with every kind of name is accepted."""
    assert len(offered(load(claim()).claim)) == 9


SECRET = "sk-PLANTED_9f8e7D"
JUNK = st.sampled_from(
    [
        SECRET,
        f"Bearer {SECRET}",
        f"https://user:{SECRET}@api.vendor.example/v1",
        f"https://api.vendor.example/v1?key={SECRET}",
        f"https://{SECRET}.example/v1",
        f"credential://{SECRET}/x",
        f"{SECRET}\nsecond line",
        f"{SECRET}.pem",
        f"/{SECRET}.gguf",
        f"10.0.0.0/{SECRET}",
        {SECRET: SECRET},
        {"mode": SECRET},
        {"secure": SECRET},
        [SECRET],
        [{SECRET: [SECRET]}],
        "",
        "x" * 5000,
        None,
        True,
        False,
        -1,
        0,
        10**18,
        1.5,
        [],
        {},
        [[]],
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value below the root."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in items for found in ((*path, key), *places(item, (*path, key)))]


PLACES = places(VALID)
CHANGES = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from(["put", "drop", "rename", "add"]), JUNK), min_size=1, max_size=3
)


def below(owner: Any, part: str | int) -> Any:
    """Return what stands under a key or an index, or `None`."""
    if isinstance(owner, dict):
        return owner.get(part)
    return owner[part] if isinstance(owner, list) and isinstance(part, int) and part < len(owner) else None


def mutate(values: dict[str, Any], changes: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Change values at some places; a place that an earlier change removed is passed over."""
    for path, how, template in changes:
        junk, owner, last = copy.deepcopy(template), reduce(below, path[:-1], values), path[-1]
        if isinstance(owner, dict) and last in owner:
            if how == "put":
                owner[last] = junk
            elif how == "drop":
                del owner[last]
            elif how == "rename":
                owner[SECRET] = owner.pop(last)
            else:
                owner[SECRET] = junk
        elif isinstance(owner, list) and isinstance(last, int) and last < len(owner):
            owner[last] = junk


@settings(bounded, max_examples=300)
@given(changes=CHANGES)
def test_no_mutation_ends_in_a_traceback_or_repeats_a_secret(changes: Any) -> None:
    values = claim()
    mutate(values, changes)
    for line in problems(values):
        assert "PLANTED" not in line.upper()
        assert len(line.splitlines()) == 1


@settings(bounded, max_examples=40)
@given(changes=CHANGES)
def test_the_same_through_a_file(changes: Any) -> None:
    values = claim()
    mutate(values, changes)
    text = yaml.safe_dump({"config": {f"hearth:{key}": value for key, value in values.items()}})
    for line in refusals(text.encode()):
        assert "PLANTED" not in line.upper()


def refusals(content: bytes) -> list[str]:
    """Return what is said about a stack file of this content."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Pulumi.try.yaml"
        file.write_bytes(content)
        try:
            load_claim_file(file)
        except ClaimError as error:
            return str(error).splitlines()
    return []


@bounded
@given(content=st.one_of(st.binary(max_size=200), st.text(alphabet=" \n\t:-[]{}&*!|>'\"#?%@,ab1.~", max_size=80)))
def test_any_bytes_are_refused_in_words(content: bytes | str) -> None:
    assert refusals(content if isinstance(content, bytes) else content.encode())


HOME = (PROJECT / "stacks" / "Pulumi.home.yaml").read_bytes()


@bounded
@given(at=st.integers(0, len(HOME)), length=st.integers(0, 40), junk=st.binary(max_size=6))
def test_a_damaged_stack_file_is_refused_in_words_or_still_right(at: int, length: int, junk: bytes) -> None:
    for line in refusals(HOME[:at] + junk + HOME[at + length :]):
        assert line.strip()

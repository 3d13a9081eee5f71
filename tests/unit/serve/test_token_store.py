"""Which Secret opens which instance, and what is kept of it (S2-12, S2-17, S2-20, C-7)."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from hearth.serve.token_store import Instance, Instances, InstancesError, TokenStore, read_instances
from tests.support.tokens import ALPHA, BETA, INSTANCES, NAMESPACE, secret, token


def store(*found: dict[str, Any]) -> TokenStore:
    made = TokenStore(INSTANCES)
    made.replace(found)
    return made


def test_a_token_opens_its_own_instance_and_no_other() -> None:
    first, second = token(), token()
    tokens = store(secret("ci", first), secret("notebook", second, BETA))
    assert tokens.allows(ALPHA.slug, first)
    assert tokens.allows(BETA.slug, second)
    assert not tokens.allows(BETA.slug, first)
    assert not tokens.allows(ALPHA.slug, second)
    assert not tokens.allows("", first)
    assert not tokens.allows(ALPHA.slug, "")
    assert (tokens.tokens, tokens.refused) == (2, 0)


@pytest.mark.parametrize(
    "metadata",
    [
        {"namespace": "elsewhere"},
        {"labels": {}},
        {"labels": {"hearth.dev/private-instance": "gamma"}},
        {"ownerReferences": []},
        {"ownerReferences": [{"name": ALPHA.name, "uid": "of-a-former-one"}]},
        {"ownerReferences": [{"name": "another", "uid": ALPHA.uid}]},
        {"ownerReferences": [{"name": BETA.name, "uid": BETA.uid}]},
        {"deletionTimestamp": "2026-12-01T00:00:00Z"},
    ],
)
def test_a_secret_that_is_not_bound_to_the_instance_opens_nothing(metadata: dict[str, Any]) -> None:
    value = token()
    tokens = store(secret("planted", value, **metadata))
    assert not any(tokens.allows(slug, value) for slug in (ALPHA.slug, BETA.slug))
    assert (tokens.tokens, tokens.refused) == (0, 1)


@pytest.mark.parametrize("value", ["", "short", "x" * 42, "x" * 44, "é" * 43, "x" * 42 + "\n", " " * 43])
def test_a_token_that_is_not_32_bytes_of_base64url_opens_nothing(value: str) -> None:
    tokens = store(secret("weak", value))
    assert not tokens.allows(ALPHA.slug, value)
    assert tokens.refused == 1


@pytest.mark.parametrize("data", [None, {}, {"OPENAI_API_KEY": "***"}, {"OPENAI_API_KEY": "/w=="}])
def test_a_secret_without_a_readable_token_opens_nothing(data: dict[str, str] | None) -> None:
    tokens = store({**secret("odd", token()), "data": data})
    assert (tokens.tokens, tokens.refused) == (0, 1)


def test_a_change_of_a_secret_replaces_its_token() -> None:
    before, after = token(), token()
    tokens = store(secret("ci", before))
    tokens.put(secret("ci", after))
    assert not tokens.allows(ALPHA.slug, before)
    assert tokens.allows(ALPHA.slug, after)
    tokens.put(secret("ci", after, labels={"hearth.dev/private-instance": "gamma"}))
    assert not tokens.allows(ALPHA.slug, after)


def test_a_deleted_token_opens_nothing_unless_a_second_secret_holds_it() -> None:
    value = token()
    tokens = store(secret("one", value), secret("two", value))
    tokens.remove("one")
    assert tokens.allows(ALPHA.slug, value)
    tokens.remove("two")
    tokens.remove("two")
    assert not tokens.allows(ALPHA.slug, value)
    assert (tokens.tokens, tokens.refused) == (0, 0)


def test_what_a_new_list_does_not_have_opens_nothing() -> None:
    gone, kept = token(), token()
    tokens = store(secret("gone", gone), secret("kept", kept))
    tokens.replace([secret("kept", kept)])
    assert not tokens.allows(ALPHA.slug, gone)
    assert tokens.allows(ALPHA.slug, kept)


def test_no_token_is_kept_and_no_digest_is_the_same_in_two_processes() -> None:
    value = token()
    one, two = store(secret("ci", value)), store(secret("ci", value))
    assert value.encode() not in pickle.dumps(one)
    assert not set(one._counts) & set(two._counts)


def test_slug_and_token_are_told_apart() -> None:
    value = token()
    tokens = store(secret("ci", value))
    assert not tokens.allows(ALPHA.slug + value[0], value[1:])
    assert not tokens.allows(ALPHA.slug[:-1], ALPHA.slug[-1] + value)


def entry(**changes: str) -> dict[str, str]:
    return {"name": "alpha", "uid": "u", "slug": ALPHA.slug, **changes}


def written(folder: Path, content: Any) -> Path:
    file = folder / "instances.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_the_file_of_instances_is_read(tmp_path: Path) -> None:
    found = read_instances(written(tmp_path, {"namespace": NAMESPACE, "instances": [entry()]}))
    assert found == Instances(namespace=NAMESPACE, instances=(Instance(name="alpha", uid="u", slug=ALPHA.slug),))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "file: Invalid JSON"),
        ({"namespace": NAMESPACE}, "instances: Field required"),
        ({"namespace": "Not/One", "instances": []}, "namespace: String should match"),
        ({"namespace": NAMESPACE, "instances": [entry(slug="-starts-badly")]}, "instances.0.slug: String should"),
        ({"namespace": NAMESPACE, "instances": [entry(uid="")]}, "instances.0.uid: String should have"),
        ({"namespace": NAMESPACE, "instances": [entry(more="x")]}, "instances.0.more: Extra inputs"),
        ({"namespace": NAMESPACE, "instances": [entry(), entry(slug=BETA.slug)]}, "the name alpha is there twice"),
        ({"namespace": NAMESPACE, "instances": [entry(), entry(name="b")]}, f"the slug {ALPHA.slug} is there twice"),
    ],
)
def test_a_file_of_instances_that_is_wrong_is_refused(tmp_path: Path, content: Any, said: str) -> None:
    with pytest.raises(InstancesError) as refused:
        read_instances(written(tmp_path, content))
    assert said in str(refused.value)


def test_a_file_of_instances_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstancesError, match=r"cannot be read: No such file"):
        read_instances(tmp_path / "none.json")

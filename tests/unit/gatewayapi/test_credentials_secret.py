"""The Secret's provider against a scripted cluster: never one that is not ours."""

import copy
from typing import Any

import pytest
from pulumi.output import UNKNOWN

from hearth.gatewayapi.credentials_secret import CredentialsSecretProvider
from hearth.kubeapi.client import decoded, encoded
from hearth.kubeapi.provider import StepFailed
from tests.support.scripted_kubernetes import ScriptedKubernetes

LABELS = {
    "app.kubernetes.io/name": "llm-credentials-notes",
    "app.kubernetes.io/managed-by": "hearth",
    "hearth.dev/tenant": "family",
    "hearth.dev/app": "notes",
}
PROPS: dict[str, Any] = {
    "namespace": "tenant-family",
    "secret_name": "llm-credentials-notes",
    "labels": LABELS,
    "values": {"OPENAI_API_KEY": "sk-planted-canary", "OPENAI_BASE_URL": "http://llm-gateway/v1"},
}
NAME = "tenant-family/llm-credentials-notes"


def foreign(**labels: str) -> dict[str, Any]:
    meta = {"name": "llm-credentials-notes", "namespace": "tenant-family", "labels": labels}
    return {"metadata": meta, "data": encoded({"OPENAI_API_KEY": "somebody's own"})}


def test_it_is_written_and_no_output_has_its_values(kubernetes: ScriptedKubernetes) -> None:
    made = CredentialsSecretProvider().create(PROPS)
    assert made.id == NAME
    assert decoded(kubernetes.secrets[NAME]) == PROPS["values"]
    assert kubernetes.secrets[NAME]["metadata"]["labels"] == LABELS
    assert "canary" not in str(made.outs)
    assert set(made.outs) == {"namespace", "secret_name", "labels", "digest"}
    assert CredentialsSecretProvider().diff(NAME, made.outs, PROPS).changes is False


NOT_OURS = [
    {},
    {**LABELS, "app.kubernetes.io/managed-by": "helm"},
    {**LABELS, "hearth.dev/app": "photos"},
    {**LABELS, "hearth.dev/tenant": "guests"},
]


@pytest.mark.parametrize("labels", NOT_OURS)
def test_one_that_is_not_ours_is_never_touched(kubernetes: ScriptedKubernetes, labels: dict[str, str]) -> None:
    provider = CredentialsSecretProvider()
    theirs = kubernetes.put(foreign(**labels))
    with pytest.raises(StepFailed, match=r"tenant-family has a Secret llm-credentials-notes that Hearth did not write"):
        provider.create(PROPS)
    with pytest.raises(StepFailed, match=r"kubectl -n tenant-family delete secret llm-credentials-notes"):
        provider.update(NAME, {}, PROPS)
    assert provider.read(NAME, PROPS).id == ""
    provider.delete(NAME, PROPS)
    assert kubernetes.secrets[NAME] == theirs


def test_one_of_an_earlier_run_is_taken_up_and_what_others_added_stays(kubernetes: ScriptedKubernetes) -> None:
    old = foreign(**LABELS, team="blue")
    old["metadata"]["annotations"] = {"note": "kept"}
    kubernetes.put(old)
    CredentialsSecretProvider().create(PROPS)
    written = kubernetes.secrets[NAME]
    assert decoded(written) == PROPS["values"]
    assert written["metadata"]["labels"] == {**LABELS, "team": "blue"}
    assert written["metadata"]["annotations"] == {"note": "kept"}


def test_refresh_sees_an_edit_and_update_writes_it_back(kubernetes: ScriptedKubernetes) -> None:
    provider = CredentialsSecretProvider()
    made = provider.create(PROPS)
    assert provider.read(NAME, made.outs).outs == made.outs
    kubernetes.merge_secret("tenant-family", "llm-credentials-notes", {"data": encoded({"OPENAI_API_KEY": "edited"})})
    seen = provider.read(NAME, made.outs).outs
    assert provider.diff(NAME, seen, PROPS).changes is True
    assert provider.update(NAME, seen, PROPS).outs == made.outs
    assert decoded(kubernetes.secrets[NAME]) == PROPS["values"]


def test_refresh_sees_that_it_is_gone_and_update_writes_it_again(kubernetes: ScriptedKubernetes) -> None:
    provider = CredentialsSecretProvider()
    made = provider.create(PROPS)
    kubernetes.secrets.clear()
    assert provider.read(NAME, made.outs).id == ""
    provider.update(NAME, made.outs, PROPS)
    assert decoded(kubernetes.secrets[NAME]) == PROPS["values"]


def test_a_new_value_is_a_change_and_another_name_is_another_secret(kubernetes: ScriptedKubernetes) -> None:
    provider = CredentialsSecretProvider()
    made = provider.create(PROPS)
    rotated = {**PROPS, "values": {**PROPS["values"], "OPENAI_API_KEY": "sk-next"}}
    found = provider.diff(NAME, made.outs, rotated)
    assert (found.changes, found.replaces) == (True, [])
    unknown = {**PROPS, "values": {**PROPS["values"], "OPENAI_API_KEY": UNKNOWN}}
    assert provider.diff(NAME, made.outs, unknown).changes is True
    assert provider.diff(NAME, made.outs, {**PROPS, "values": UNKNOWN}).changes is True
    assert provider.diff(NAME, made.outs, {**PROPS, "namespace": "x"}).replaces == ["namespace"]


def test_deleting_it_deletes_exactly_what_was_read(kubernetes: ScriptedKubernetes) -> None:
    provider = CredentialsSecretProvider()
    made = provider.create(PROPS)
    changes = iter([{"note": "changed in between"}])

    def interfere() -> None:
        for change in changes:
            secret = copy.deepcopy(kubernetes.secrets[NAME])
            secret["metadata"]["annotations"] = change
            kubernetes.put(secret)
            return

    kubernetes.before_write = interfere
    provider.delete(NAME, made.outs)
    assert kubernetes.secrets == {}
    provider.delete(NAME, made.outs)


def test_one_that_becomes_somebody_elses_in_between_is_left(kubernetes: ScriptedKubernetes) -> None:
    provider = CredentialsSecretProvider()
    made = provider.create(PROPS)

    def interfere() -> None:
        kubernetes.put(foreign())

    kubernetes.before_write = interfere
    provider.delete(NAME, made.outs)
    assert decoded(kubernetes.secrets[NAME]) == {"OPENAI_API_KEY": "somebody's own"}
    kubernetes.before_write = None
    kubernetes.put(foreign(**LABELS))
    kubernetes.before_write = interfere
    with pytest.raises(StepFailed, match="did not write"):
        provider.update(NAME, made.outs, PROPS)


def test_endless_interference_is_given_up(kubernetes: ScriptedKubernetes) -> None:
    provider = CredentialsSecretProvider()
    made = provider.create(PROPS)

    def interfere() -> None:
        kubernetes.put(kubernetes.secrets[NAME])

    kubernetes.before_write = interfere
    for call in (lambda: provider.update(NAME, {}, PROPS), lambda: provider.delete(NAME, made.outs)):
        with pytest.raises(StepFailed, match="changed by somebody else all the time"):
            call()


def test_a_secret_that_would_not_be_known_as_ours_is_refused() -> None:
    without = {name: value for name, value in LABELS.items() if name != "hearth.dev/app"}
    with pytest.raises(ValueError, match=r"hearth\.dev/app"):
        CredentialsSecretProvider().check({}, {**PROPS, "labels": without})

"""Several documents of one endpoint: which of them decides (S4-111)."""

import json
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from hearth.evidence.reasons import Reason
from hearth.evidence.signing import evidence_digest
from hearth.evidence.verify import Subject, Verification, judge
from tests.unit.evidence import samples


def document(tested_at: str = "2026-08-08T16:00:00Z", **values: Any) -> bytes:
    return samples.signed(lambda v: v.update(testedAt=tested_at, validUntil="2026-08-20T00:00:00Z", **values))


def sha256(data: bytes) -> str:
    return evidence_digest(json.loads(data))


def decided(*documents: bytes, subject: Subject = samples.SUBJECT) -> Verification:
    """The verdict, which does not depend on the order of the documents."""
    found = [judge(order, subject, samples.trust_store(), samples.NOW) for order in permutations(documents)]
    assert all(each == found[0] for each in found)
    return found[0]


def reasons(verification: Verification) -> list[Reason]:
    return [finding.reason for finding in verification.findings]


OLDER = document()
NEWER_FAILED = document("2026-08-09T00:00:00Z", state="failed")


def test_a_newer_failure_supersedes_an_older_success() -> None:
    assert reasons(decided(OLDER, NEWER_FAILED)) == [Reason.STATE_FAILED]
    assert reasons(decided(OLDER, NEWER_FAILED, document("2026-08-10T00:00:00Z"))) == []


def test_of_two_of_one_second_the_failure_decides() -> None:
    assert reasons(decided(OLDER, document(state="failed"))) == [Reason.STATE_FAILED]


def test_what_a_document_names_as_its_predecessor_is_superseded_whatever_the_clocks_say() -> None:
    behind = document("2026-08-01T00:00:00Z", state="failed", previousSha256=sha256(OLDER))
    assert reasons(decided(OLDER, behind)) == [Reason.STATE_FAILED]


def test_a_document_that_is_not_authentic_withdraws_nothing() -> None:
    forged = samples.signed(lambda v: v.update(testedAt="2026-08-10T00:00:00Z", state="failed"), samples.OTHER_KEY)
    assert reasons(decided(OLDER, forged, b"{}")) == []
    assert reasons(decided(forged)) == [Reason.SIGNATURE_INVALID]


def test_evidence_of_another_revision_says_nothing_about_this_one() -> None:
    """What was published can be put back with its evidence, whatever was measured of its successor (S4-131)."""
    other = document("2026-08-09T00:00:00Z", state="failed", profileSha256=samples.digest_of("candidate"))
    assert reasons(decided(OLDER, other)) == []
    assert Reason.PROFILE_CHANGED in reasons(decided(other))


def test_evidence_of_another_endpoint_decides_only_where_there_is_nothing_else() -> None:
    foreign = document("2026-08-10T00:00:00Z", endpoint="vllm-native")
    assert reasons(decided(OLDER, foreign)) == []
    assert Reason.ENDPOINT_MISMATCH in reasons(decided(foreign))


def test_a_failure_that_learned_no_identity_supersedes_too() -> None:
    values = json.loads(samples.signed())["sidecar"]
    blind = document(
        "2026-08-09T00:00:00Z", state="failed", sidecar={**values, "configSha256": None, "profileVersion": None}
    )
    assert reasons(decided(OLDER, blind))[0] is Reason.STATE_FAILED


@pytest.mark.parametrize(
    ("believed", "expected"), [("2026-08-08T16:00:00Z", []), ("2026-08-08T16:00:01Z", ["superseded"])]
)
def test_what_was_believed_before_does_not_go_back(believed: str, expected: list[str]) -> None:
    """The newer document was removed; the deployment before remembers it."""
    found = decided(OLDER, subject=replace(samples.SUBJECT, believed_until=believed))
    assert [reason.value for reason in reasons(found)] == expected

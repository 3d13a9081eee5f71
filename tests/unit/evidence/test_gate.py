"""The policy gate: what is withheld and what is said; never is anything refused (C-18, S4-132)."""

import datetime
from collections.abc import Mapping
from typing import Any

import pytest

from hearth.evidence.gate import Believed, Gate, private_endpoints, withheld_endpoints
from hearth.evidence.reasons import Reason
from tests.unit.evidence import samples

GOOD = {"ollama-home": (samples.signed(),), "vllm-native": (samples.signed(samples.native),)}
WAIVER = {"mode": "warn", "reason": "the runner is being moved", "until": "2026-08-10"}


def gate(
    evidence: Mapping[str, tuple[bytes, ...]],
    *,
    store: bool = True,
    now: datetime.datetime = samples.NOW,
    policy: str = "enforce",
    **more: Any,
) -> Gate:
    return withheld_endpoints(
        samples.claim(evidence=policy, **more),
        samples.SUBJECTS,
        evidence=evidence,
        trust_store=samples.trust_store() if store else None,
        now=now,
    )


def test_only_private_endpoints_need_evidence() -> None:
    assert private_endpoints(samples.claim()) == ("ollama-home", "vllm-native")


def test_good_evidence_opens_every_route() -> None:
    opened = gate(GOOD)
    assert (opened.mode, opened.withheld, opened.warnings) == ("enforce", {}, ())
    assert opened.decided["ollama-home"].tested_at == "2026-08-08T16:00:00Z"
    assert isinstance(opened.decided["ollama-home"], Believed)


def test_evidence_that_soon_ends_is_said_while_it_holds() -> None:
    ending = samples.signed(lambda values: values.update(validUntil="2026-08-12T11:59:59Z"))
    opened = gate({**GOOD, "ollama-home": (ending,)})
    assert opened.withheld == {}
    (notice,) = opened.warnings
    assert notice.path == "hearth:endpoints.ollama-home"
    assert "its evidence ends at 2026-08-12T11:59:59Z" in notice.message
    assert "hearth qualify ollama-home" in notice.message
    later = samples.signed(lambda values: values.update(validUntil="2026-08-12T12:00:00Z"))
    assert gate({**GOOD, "ollama-home": (later,)}).warnings == ()


def test_missing_evidence_withholds_that_route_and_nothing_else() -> None:
    opened = gate({"ollama-home": GOOD["ollama-home"]})
    assert opened.withheld == {"vllm-native": "evidence_missing"}
    assert [notice.path for notice in opened.warnings] == ["hearth:endpoints.vllm-native"]
    assert "its route is withheld: there is no evidence" in opened.warnings[0].message


def test_a_file_that_cannot_be_read_withholds_that_route_and_nothing_else() -> None:
    opened = withheld_endpoints(
        samples.claim(),
        samples.SUBJECTS,
        evidence={"ollama-home": GOOD["ollama-home"]},
        unreadable=frozenset({"vllm-native"}),
        trust_store=samples.trust_store(),
        now=samples.NOW,
    )
    assert opened.withheld == {"vllm-native": "evidence_unreadable"}


BAD: dict[str, tuple[bytes, Reason]] = {
    "unsigned": (b"{}", Reason.KEY_UNKNOWN),
    "half a character": (b'{"\\ud800": 1}', Reason.MALFORMED),
    "nested": (b'{"a":' * 5000 + b"1" + b"}" * 5000, Reason.MALFORMED),
    "a key twice": (b'{"a": 1, "a": 2}', Reason.MALFORMED),
    "not a number": (b'{"a": NaN}', Reason.MALFORMED),
    "forged": (samples.signed(key=samples.OTHER_KEY), Reason.SIGNATURE_INVALID),
    "failed": (samples.signed(lambda v: v.update(state="failed")), Reason.STATE_FAILED),
    "expired": (samples.signed(lambda v: v.update(validUntil="2026-08-09T00:00:00Z")), Reason.EXPIRED),
    "another endpoint": (samples.signed(samples.native), Reason.ENDPOINT_MISMATCH),
    "changed profile": (samples.signed(lambda v: v.update(profileSha256="0" * 64)), Reason.PROFILE_CHANGED),
    "changed runtime": (samples.signed(lambda v: v.update(physicalRuntimeId="else")), Reason.RUNTIME_CHANGED),
    "no identity": (samples.signed(lambda v: v["sidecar"].update(configSha256=None)), Reason.SIDECAR_IDENTITY_MISSING),
    "no isolation": (
        samples.signed(lambda v: v["sidecar"].update(isolationEvidenceSha256=None)),
        Reason.ISOLATION_MISSING,
    ),
    "no vantage": (samples.signed(lambda v: v.update(runnerVantage=None)), Reason.VANTAGE_MISSING),
    "no sidecar": (samples.signed(lambda v: v.update(sidecar=None, runnerVantage=None)), Reason.SIDECAR_MISSING),
    "a case was skipped": (
        samples.signed(lambda v: v["probes"].update({"sidecar.raw_port_closed": samples.SKIPPED})),
        Reason.PROBE_NOT_PASSED,
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_evidence_withholds_its_own_route_and_nothing_else(case: str) -> None:
    """S4-132: unsigned, expired or mismatched evidence, and a sidecar without identity, isolation and vantage."""
    data, reason = BAD[case]
    opened = gate({**GOOD, "ollama-home": (data,)})
    assert set(opened.withheld) == {"ollama-home"}
    assert {notice.path for notice in opened.warnings} == {"hearth:endpoints.ollama-home"}
    assert any(f"({reason.value})" in notice.message for notice in opened.warnings)
    assert all("its route is withheld" in notice.message for notice in opened.warnings)


@pytest.mark.parametrize("case", BAD)
def test_a_waiver_publishes_every_route_and_says_what_is_wrong(case: str) -> None:
    data, reason = BAD[case]
    warned = gate({"ollama-home": (data,)}, evidenceWaiver=WAIVER)
    assert (warned.mode, warned.withheld) == ("warn", {})
    assert any(reason.value in notice.message for notice in warned.warnings)
    assert sum("published all the same" in notice.message for notice in warned.warnings) == len(warned.warnings) - 1


def test_a_waiver_is_printed_with_its_reason_and_its_end() -> None:
    for mode in ("warn", "off"):
        first = gate(GOOD, evidenceWaiver={**WAIVER, "mode": mode}).warnings[0]
        assert first.path == "hearth:policy.evidenceWaiver"
        assert f"is {mode} until 2026-08-10" in first.message
        assert "the runner is being moved" in first.message


def test_a_waiver_ends_with_its_last_day_in_utc() -> None:
    end = datetime.datetime(2026, 8, 11, tzinfo=datetime.UTC)
    before = gate({}, evidenceWaiver=WAIVER, now=end - datetime.timedelta(seconds=1))
    assert (before.mode, before.withheld) == ("warn", {})
    after = gate({}, evidenceWaiver=WAIVER, now=end.astimezone(datetime.timezone(datetime.timedelta(hours=-9))))
    assert (after.mode, len(after.withheld)) == ("enforce", 2)
    assert "ended with 2026-08-10" in after.warnings[0].message


def test_off_looks_at_nothing() -> None:
    assert gate({"ollama-home": (b"{}",)}, store=False, policy="off") == Gate("off", {}, {}, ())


def test_without_a_trust_store_nobody_is_believed() -> None:
    withheld = gate(GOOD, store=False)
    assert set(withheld.withheld.values()) == {"trust_store_missing"}
    assert all("trust/<environment>/runners.yaml" in notice.message for notice in withheld.warnings)
    assert gate({}, store=False).withheld == dict.fromkeys(GOOD, "evidence_missing")


def test_evidence_that_belongs_to_nothing_is_told_and_its_name_is_not_repeated() -> None:
    told = gate({**GOOD, "cloud": (b"x",), "\x1b[31mred": (b"x",)})
    assert told.withheld == {}
    assert [notice.path for notice in told.warnings] == ["evidence"]
    assert "2 file(s)" in told.warnings[0].message
    assert "red" not in told.warnings[0].message


def test_no_message_repeats_what_the_document_says() -> None:
    secret = samples.signed(lambda values: values.update(physicalRuntimeId="sk-canary", runtimeVersion="sk-canary"))
    for data in (secret, b'{"signerKeyId": "sk-canary"}', b"sk-canary"):
        withheld = gate({**GOOD, "ollama-home": (data,)})
        assert withheld.withheld
        assert "sk-canary" not in "\n".join(map(str, withheld.warnings))

"""The policy gate: what is withheld, warned about and refused (C-18, S4-132)."""

from collections.abc import Mapping
from typing import Any

import pytest

from hearth.evidence.gate import Gate, private_endpoints, withheld_endpoints
from hearth.evidence.reasons import Reason
from tests.unit.evidence import samples


def native(values: dict[str, Any]) -> None:
    values.update(endpoint="vllm-native", physicalRuntimeId="gpu-box/vllm", sidecar=None, runnerVantage=None)
    values["deployments"] = {
        "qwen-native": {"revision": samples.digest_of("revision"), "model": "qwen", "operations": {"chat": "passed"}}
    }


GOOD = {"ollama-home": samples.signed(), "vllm-native": samples.signed(native)}


def gate(evidence: Mapping[str, bytes], policy: str = "enforce", *, store: bool = True) -> Gate:
    return withheld_endpoints(
        samples.claim(evidence=policy),
        "home",
        expected=samples.EXPECTED,
        evidence=evidence,
        trust_store=samples.trust_store() if store else None,
        now=samples.NOW,
    )


def test_only_private_endpoints_need_evidence() -> None:
    assert private_endpoints(samples.claim()) == ("ollama-home", "vllm-native")


def test_good_evidence_opens_every_route() -> None:
    assert gate(GOOD) == Gate({}, (), ())


def test_missing_evidence_withholds_that_route_and_nothing_else() -> None:
    opened = gate({"ollama-home": GOOD["ollama-home"]})
    assert opened.withheld == {"vllm-native": "evidence_missing"}
    assert opened.problems == ()
    assert [notice.path for notice in opened.warnings] == ["hearth:endpoints.vllm-native"]
    assert "until a runner has measured it" in opened.warnings[0].message


def test_missing_evidence_does_not_need_a_trust_store() -> None:
    assert gate({}, store=False).problems == ()


BAD: dict[str, tuple[bytes, Reason]] = {
    "unsigned": (b"{}", Reason.KEY_UNKNOWN),
    "forged": (samples.signed(key=samples.OTHER_KEY), Reason.SIGNATURE_INVALID),
    "expired": (samples.signed(lambda v: v.update(validUntil="2026-08-09T00:00:00Z")), Reason.EXPIRED),
    "another endpoint": (samples.signed(native), Reason.ENDPOINT_MISMATCH),
    "changed profile": (samples.signed(lambda v: v.update(profileSha256="0" * 64)), Reason.PROFILE_CHANGED),
    "changed runtime": (samples.signed(lambda v: v.update(physicalRuntimeId="else")), Reason.RUNTIME_CHANGED),
    "no identity": (samples.signed(lambda v: v["sidecar"].update(configSha256=None)), Reason.SIDECAR_IDENTITY_MISSING),
    "no isolation": (
        samples.signed(lambda v: v["sidecar"].update(isolationEvidenceSha256=None)),
        Reason.ISOLATION_MISSING,
    ),
    "no vantage": (samples.signed(lambda v: v.update(runnerVantage=None)), Reason.VANTAGE_MISSING),
    "no sidecar": (samples.signed(lambda v: v.update(sidecar=None, runnerVantage=None)), Reason.SIDECAR_MISSING),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_evidence_refuses_the_claim(case: str) -> None:
    """S4-132: unsigned, expired or mismatched evidence, and a sidecar without identity, isolation and vantage."""
    data, reason = BAD[case]
    refused = gate({**GOOD, "ollama-home": data})
    assert refused.withheld == {}
    assert reason.value in refused.problems[0].message or any(reason.value in p.message for p in refused.problems)
    assert {problem.path for problem in refused.problems} == {"hearth:endpoints.ollama-home"}
    assert all("remove the file" in problem.remedy for problem in refused.problems)


@pytest.mark.parametrize("case", BAD)
def test_warn_publishes_every_route_and_says_what_is_wrong(case: str) -> None:
    data, reason = BAD[case]
    warned = gate({"ollama-home": data}, "warn")
    assert warned.withheld == {}
    assert warned.problems == ()
    assert any(reason.value in notice.message for notice in warned.warnings)
    assert any("published all the same" in notice.message for notice in warned.warnings)


def test_off_looks_at_nothing() -> None:
    assert gate({"ollama-home": b"{}"}, "off", store=False) == Gate({}, (), ())


def test_evidence_without_a_trust_store_is_refused() -> None:
    refused = gate(GOOD, store=False)
    assert len(refused.problems) == 2
    assert all("trust_store_missing" in problem.message for problem in refused.problems)
    assert all("hearth:policy.trustStore" in problem.remedy for problem in refused.problems)


def test_evidence_that_belongs_to_nothing_is_told_and_its_name_is_not_repeated() -> None:
    told = gate({**GOOD, "cloud": b"x", "\x1b[31mred": b"x"})
    assert told.problems == ()
    assert [notice.path for notice in told.warnings] == ["evidence"]
    assert "2 file(s)" in told.warnings[0].message
    assert "red" not in told.warnings[0].message


def test_no_message_repeats_what_the_document_says() -> None:
    secret = samples.signed(lambda values: values.update(physicalRuntimeId="sk-canary", runtimeVersion="sk-canary"))
    for data in (secret, b'{"signerKeyId": "sk-canary"}', b"sk-canary"):
        refused = gate({**GOOD, "ollama-home": data})
        assert refused.problems
        assert "sk-canary" not in "\n".join(map(str, refused.problems))

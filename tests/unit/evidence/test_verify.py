"""The order of verification, and every reason that evidence is refused for."""

import datetime
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from hearth.evidence import verify as module
from hearth.evidence.reasons import EXIT_CODES, EXPLANATIONS, Reason, Verdict
from hearth.evidence.verify import Verification, authenticate, verify
from tests.unit.evidence import samples

Change = Callable[[dict[str, Any]], None]


def put(path: str, value: Any) -> Change:
    """Return a change that sets one field."""

    def change(values: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            values = values[parent]
        values[last] = value

    return change


def drop(path: str) -> Change:
    """Return a change that removes one entry."""

    def change(values: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            values = values[parent]
        del values[last]

    return change


def fail_a_probe(values: dict[str, Any]) -> None:
    values["probes"]["chat.extra"] = samples.FAILED


def skip_probe(name: str) -> Change:
    """Return a change by which one case of the endpoint was skipped; its name has points in it."""

    def change(values: dict[str, Any]) -> None:
        values["probes"][name] = samples.SKIPPED

    return change


def other(name: str) -> str:
    return samples.digest_of(name)


TARGET = samples.STATEMENT["runnerVantage"]["targetNetworkNamespace"]

REFUSALS: list[tuple[Change, Reason, str]] = [
    (put("kind", "codec_corpus"), Reason.KIND_NOT_LIVE, "invalid"),
    (put("kind", "kb_embedding"), Reason.KIND_NOT_LIVE, "invalid"),
    (put("state", "failed"), Reason.STATE_FAILED, "failed"),
    (fail_a_probe, Reason.STATE_CONTRADICTED, "invalid"),
    (put("validUntil", "2026-08-10T12:00:00Z"), Reason.EXPIRED, "stale"),
    (put("validUntil", "2026-09-07T16:00:01Z"), Reason.VALIDITY_TOO_LONG, "invalid"),
    (put("testedAt", "2026-08-10T12:05:01Z"), Reason.NOT_YET_VALID, "invalid"),
    (
        put("deployments", {"another": samples.STATEMENT["deployments"]["gemma-home"]}),
        Reason.DEPLOYMENT_NOT_COVERED,
        "stale",
    ),
    (drop("deployments.gemma-home.operations.completion"), Reason.OPERATION_NOT_COVERED, "stale"),
    (put("deployments.gemma-home.operations.chat.stream", samples.SKIPPED), Reason.CAPABILITY_NOT_PASSED, "invalid"),
    (drop("deployments.gemma-home.operations.completion.usage"), Reason.CAPABILITY_NOT_PASSED, "invalid"),
    (skip_probe("sidecar.raw_port_closed"), Reason.PROBE_NOT_PASSED, "invalid"),
    (skip_probe("transport.chain_and_name"), Reason.PROBE_NOT_PASSED, "invalid"),
    (put("catalogueVersion", 2), Reason.CATALOGUE_UNKNOWN, "invalid"),
    (put("deployments.gemma-home.model", "gemma3:1b"), Reason.MODEL_CHANGED, "stale"),
    (put("environment", "production"), Reason.ENVIRONMENT_MISMATCH, "invalid"),
    (put("endpoint", "vllm-native"), Reason.ENDPOINT_MISMATCH, "invalid"),
    (put("endpointSha256", other("x")), Reason.ENDPOINT_CHANGED, "stale"),
    (put("deployments.gemma-home.revision", other("x")), Reason.REVISION_CHANGED, "stale"),
    (put("physicalRuntimeId", "gpu-box/vllm"), Reason.RUNTIME_CHANGED, "stale"),
    (put("capacitySha256", other("x")), Reason.CAPACITY_CHANGED, "stale"),
    (put("profileSha256", other("x")), Reason.PROFILE_CHANGED, "stale"),
    (put("certificateSha256", None), Reason.CERTIFICATE_NOT_SEEN, "invalid"),
    (put("sidecar", None), Reason.SIDECAR_MISSING, "invalid"),
    (put("sidecar.profileVersion", None), Reason.SIDECAR_IDENTITY_MISSING, "invalid"),
    (put("sidecar.configSha256", None), Reason.SIDECAR_IDENTITY_MISSING, "invalid"),
    (put("sidecar.certificateIdentitySha256", None), Reason.SIDECAR_IDENTITY_MISSING, "invalid"),
    (put("sidecar.profileVersion", "model-provider-sidecar/v2"), Reason.SIDECAR_PROFILE_CHANGED, "stale"),
    (put("sidecar.configSha256", other("x")), Reason.SIDECAR_CONFIG_CHANGED, "stale"),
    (put("sidecar.certificateIdentitySha256", other("x")), Reason.SIDECAR_CERTIFICATE_MISMATCH, "invalid"),
    (put("sidecar.isolationEvidenceSha256", None), Reason.ISOLATION_MISSING, "invalid"),
    (put("sidecar.rawPortReachable", None), Reason.RAW_PORT_NOT_TRIED, "invalid"),
    (put("sidecar.rawPortReachable", True), Reason.RAW_PORT_REACHABLE, "failed"),
    (put("runnerVantage", None), Reason.VANTAGE_MISSING, "invalid"),
    (put("runnerVantage.sourceNetworkNamespace", TARGET), Reason.VANTAGE_NOT_EXTERNAL, "invalid"),
    (put("runnerVantage.kind", "external_workload"), Reason.VANTAGE_NOT_EXTERNAL, "invalid"),
    (put("publicKeySha256", None), Reason.CERTIFICATE_NOT_SEEN, "invalid"),
    (put("sidecar.isolationEvidenceSha256", other("x")), Reason.ISOLATION_CHANGED, "stale"),
    (put("runnerVantage.rawProbeTargetSha256", other("x")), Reason.RAW_TARGET_CHANGED, "stale"),
]


def check(data: bytes, subject: module.Subject = samples.SUBJECT) -> Verification:
    return verify(data, subject, samples.trust_store(), samples.NOW)


def reasons(verification: Verification) -> list[Reason]:
    return [finding.reason for finding in verification.findings]


@pytest.mark.parametrize(
    ("change", "reason", "verdict"), REFUSALS, ids=lambda value: str(value) if isinstance(value, Reason) else ""
)
def test_each_refusal_has_its_reason_and_verdict(change: Change, reason: Reason, verdict: str) -> None:
    verification = check(samples.signed(change))
    assert reasons(verification) == [reason]
    assert verification.verdict == verdict
    assert verification.findings[0].message
    assert verification.findings[0].remedy


@pytest.mark.parametrize("change", [change for change, _, _ in REFUSALS], ids=[reason for _, reason, _ in REFUSALS])
def test_the_signature_is_checked_before_anything_else(change: Change) -> None:
    """The same documents, signed by somebody else: the one finding is the signature, whatever they say."""
    verification = check(samples.signed(change, samples.OTHER_KEY))
    assert reasons(verification) == [Reason.SIGNATURE_INVALID]
    assert verification.evidence is None
    assert verification.sha256 is None


def test_nothing_of_an_unsigned_document_is_validated() -> None:
    """Even a document of another shape altogether is refused for its signature, not for its fields."""
    data = json.dumps({"signerKeyId": samples.KEY_ID, "secret": "hunter2"}).encode()
    assert reasons(check(data)) == [Reason.SIGNATURE_INVALID]


def test_findings_come_in_the_order_of_verification() -> None:
    def everything(values: dict[str, Any]) -> None:
        values.update(
            state="failed",
            validUntil="2026-08-09T00:00:00Z",
            endpointSha256=other("x"),
            profileSha256=other("x"),
        )
        values["deployments"]["gemma-home"].update(model="other", operations={"chat": samples.GENERATING})
        values["sidecar"]["isolationEvidenceSha256"] = None
        values["runnerVantage"]["sourceNetworkNamespace"] = TARGET

    verification = check(samples.signed(everything))
    assert reasons(verification) == [
        Reason.STATE_FAILED,
        Reason.EXPIRED,
        Reason.OPERATION_NOT_COVERED,
        Reason.MODEL_CHANGED,
        Reason.ENDPOINT_CHANGED,
        Reason.PROFILE_CHANGED,
        Reason.ISOLATION_MISSING,
        Reason.VANTAGE_NOT_EXTERNAL,
    ]
    assert verification.verdict is Verdict.FAILED


def test_a_signed_document_of_another_shape_is_refused() -> None:
    newer = {**samples.STATEMENT, "version": "hearth.evidence/v2"}
    extra = {**samples.STATEMENT, "approvedBy": "admin"}
    for values in (newer, extra):
        verification = check(samples.signed_mapping(values))
        assert reasons(verification) == [Reason.SHAPE_INVALID]
        assert verification.evidence is None


@pytest.mark.parametrize(
    ("store", "reason"),
    [
        ({"revoked": True}, Reason.KEY_REVOKED),
        ({"notBefore": "2026-08-08T16:00:01Z"}, Reason.KEY_OUT_OF_PERIOD),
        ({"notAfter": "2026-08-08T15:59:59Z"}, Reason.KEY_OUT_OF_PERIOD),
    ],
)
def test_a_key_counts_in_its_period_and_until_it_is_revoked(store: dict[str, Any], reason: Reason) -> None:
    verification = verify(samples.signed(), samples.SUBJECT, samples.trust_store(**store), samples.NOW)
    assert reasons(verification) == [reason]
    assert verification.evidence is None
    assert verification.verdict is Verdict.INVALID


def test_evidence_outlives_the_period_of_its_key_until_it_expires() -> None:
    store = samples.trust_store(notAfter="2026-08-09T00:00:00Z")
    assert verify(samples.signed(), samples.SUBJECT, store, samples.NOW).verdict is Verdict.VALID


def test_unknown_keys_and_a_missing_trust_store_are_refused() -> None:
    unknown = put("signerKeyId", "somebody")
    assert reasons(check(samples.signed(unknown))) == [Reason.KEY_UNKNOWN]
    assert reasons(check(json.dumps({"signerKeyId": ["home"]}).encode())) == [Reason.KEY_UNKNOWN]
    assert reasons(verify(samples.signed(), samples.SUBJECT, None, samples.NOW)) == [Reason.TRUST_STORE_MISSING]


def test_evidence_that_ends_before_it_begins_is_refused() -> None:
    verification = check(samples.signed(put("validUntil", "2026-08-08T16:00:00Z")))
    assert reasons(verification) == [Reason.VALIDITY_TOO_LONG, Reason.EXPIRED]


def test_freshness_counts_to_the_second() -> None:
    until = datetime.datetime(2026, 8, 15, 16, 0, tzinfo=datetime.UTC)
    before = verify(samples.signed(), samples.SUBJECT, samples.trust_store(), until - datetime.timedelta(seconds=1))
    after = verify(samples.signed(), samples.SUBJECT, samples.trust_store(), until)
    assert (before.verdict, after.verdict) == (Verdict.VALID, Verdict.STALE)


def test_sidecar_and_vantage_are_asked_for_only_with_a_sidecar() -> None:
    assert check(samples.signed(samples.native), samples.NATIVE).verdict is Verdict.VALID


def test_evidence_of_one_endpoint_does_not_serve_another() -> None:
    assert Reason.ENDPOINT_MISMATCH in reasons(check(samples.signed(), samples.NATIVE))


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("endpoint_sha256", Reason.ENDPOINT_CHANGED),
        ("profile_sha256", Reason.PROFILE_CHANGED),
        ("capacity_sha256", Reason.CAPACITY_CHANGED),
        ("physical_runtime_id", Reason.RUNTIME_CHANGED),
    ],
)
def test_a_changed_claim_makes_evidence_stale(field: str, reason: Reason) -> None:
    expected = replace(samples.SUBJECT.expected, **{field: other("new")})
    verification = check(samples.signed(), replace(samples.SUBJECT, expected=expected))
    assert reasons(verification) == [reason]
    assert verification.verdict is Verdict.STALE


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("config_sha256", Reason.SIDECAR_CONFIG_CHANGED),
        ("profile_version", Reason.SIDECAR_PROFILE_CHANGED),
        ("isolation_sha256", Reason.ISOLATION_CHANGED),
        ("raw_target_sha256", Reason.RAW_TARGET_CHANGED),
    ],
)
def test_a_changed_sidecar_makes_evidence_stale(field: str, reason: Reason) -> None:
    verification = check(samples.signed(), with_sidecar(**{field: other("new")}))
    assert reasons(verification) == [reason]
    assert verification.verdict is Verdict.STALE


@pytest.mark.parametrize("field", ["config_sha256", "isolation_sha256", "raw_target_sha256"])
def test_a_sidecar_of_which_the_claim_says_too_little_cannot_be_qualified(field: str) -> None:
    assert reasons(check(samples.signed(), with_sidecar(**{field: None}))) == [Reason.SIDECAR_NOT_DECLARED]


def with_sidecar(**changes: Any) -> module.Subject:
    expected = replace(samples.SUBJECT.expected, sidecar=replace(samples.SIDECAR, **changes))
    return replace(samples.SUBJECT, expected=expected)


def test_every_reason_is_explained_and_every_verdict_has_its_own_exit_code() -> None:
    assert set(EXPLANATIONS) == set(Reason)
    assert EXIT_CODES == {"valid": 0, "invalid": 10, "failed": 11, "stale": 12}
    assert len({str(reason) for reason in Reason}) == len(Reason)


def test_authentication_alone_does_not_ask_what_the_claim_says() -> None:
    assert authenticate(samples.signed(put("endpointSha256", other("x"))), samples.trust_store()).findings == ()

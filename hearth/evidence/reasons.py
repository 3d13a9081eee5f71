"""Why evidence is refused: codes for machines, one sentence and a remedy for people."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Verdict(StrEnum):
    """What became of a verification; each has an exit code of its own."""

    VALID = "valid"
    """Authentic, passed, fresh, and about exactly this endpoint."""
    INVALID = "invalid"
    """Not authentic, or it never could prove what it says."""
    FAILED = "failed"
    """Authentic, and it says that the endpoint did not pass."""
    STALE = "stale"
    """Authentic and once good; expired, or the claim has changed since."""


EXIT_CODES: Final = {Verdict.VALID: 0, Verdict.INVALID: 10, Verdict.FAILED: 11, Verdict.STALE: 12}
"""Exit codes of `hearth evidence verify`."""


class Reason(StrEnum):
    """Machine-readable reasons. A code never changes its meaning."""

    MISSING = "evidence_missing"
    UNREADABLE = "evidence_unreadable"
    TRUST_STORE_MISSING = "trust_store_missing"
    MALFORMED = "document_malformed"
    KEY_UNKNOWN = "signer_key_unknown"
    KEY_REVOKED = "signer_key_revoked"
    SIGNATURE_INVALID = "signature_invalid"
    SHAPE_INVALID = "document_shape_invalid"
    KEY_OUT_OF_PERIOD = "signer_key_out_of_period"
    KIND_NOT_LIVE = "kind_not_live_endpoint"
    STATE_FAILED = "state_failed"
    STATE_CONTRADICTED = "state_contradicts_probes"
    CATALOGUE_OUTDATED = "catalogue_outdated"
    CATALOGUE_UNKNOWN = "catalogue_unknown"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    NOT_YET_VALID = "tested_in_the_future"
    VALIDITY_TOO_LONG = "validity_too_long"
    DEPLOYMENT_NOT_COVERED = "deployment_not_covered"
    OPERATION_NOT_COVERED = "operation_not_covered"
    CAPABILITY_NOT_PASSED = "capability_not_passed"
    PROBE_NOT_PASSED = "probe_not_passed"
    MODEL_CHANGED = "model_changed"
    ENVIRONMENT_MISMATCH = "environment_mismatch"
    ENDPOINT_MISMATCH = "endpoint_mismatch"
    ENDPOINT_CHANGED = "endpoint_changed"
    REVISION_CHANGED = "deployment_revision_changed"
    RUNTIME_CHANGED = "physical_runtime_changed"
    CAPACITY_CHANGED = "capacity_changed"
    PROFILE_CHANGED = "network_profile_changed"
    CERTIFICATE_NOT_SEEN = "certificate_not_seen"
    SIDECAR_NOT_DECLARED = "sidecar_not_declared"
    SIDECAR_MISSING = "sidecar_missing"
    SIDECAR_IDENTITY_MISSING = "sidecar_identity_missing"
    SIDECAR_PROFILE_CHANGED = "sidecar_profile_changed"
    SIDECAR_CONFIG_CHANGED = "sidecar_config_changed"
    SIDECAR_CERTIFICATE_MISMATCH = "sidecar_certificate_mismatch"
    ISOLATION_MISSING = "sidecar_isolation_missing"
    ISOLATION_CHANGED = "sidecar_isolation_changed"
    RAW_PORT_NOT_TRIED = "raw_port_not_tried"
    RAW_PORT_REACHABLE = "raw_port_reachable"
    VANTAGE_MISSING = "vantage_missing"
    VANTAGE_NOT_EXTERNAL = "vantage_not_external"
    RAW_TARGET_CHANGED = "raw_target_changed"


@dataclass(frozen=True)
class Explanation:
    """What a reason means."""

    verdict: Verdict
    """Verdict of evidence that is refused for it."""
    message: str
    """One sentence without any content of the document."""
    remedy: str
    """What to do."""


_REPEAT = "Have a runner measure this endpoint again"
_REPAIR = "Find out from the probes what failed (`hearth evidence show`), repair the endpoint, and qualify it again"
_SUSPECT = "Find out who wrote the file, remove it, and qualify the endpoint again"
_OUTSIDE = "Qualify it again from outside the model server's network namespace"


def _stale(message: str) -> Explanation:
    return Explanation(Verdict.STALE, message, _REPEAT)


def _failed(message: str) -> Explanation:
    return Explanation(Verdict.FAILED, message, _REPAIR)


def _invalid(message: str, remedy: str = _SUSPECT) -> Explanation:
    return Explanation(Verdict.INVALID, message, remedy)


EXPLANATIONS: Final = {
    Reason.MISSING: Explanation(
        Verdict.STALE, "there is no evidence for this endpoint yet", "Have a runner measure it, and deploy again"
    ),
    Reason.UNREADABLE: _invalid("the file cannot be read", "Check the file and its permissions"),
    Reason.TRUST_STORE_MISSING: _invalid(
        "there is evidence, but no trust store to check its signature with",
        "Have the owners of the trust store put it at `trust/<environment>/runners.yaml`",
    ),
    Reason.MALFORMED: _invalid("the file is not a JSON object that could have been signed"),
    Reason.KEY_UNKNOWN: _invalid(
        "the trust store does not know the key that the evidence names",
        "Have the owners of the trust store add the runner's key, or qualify the endpoint with a runner they trust",
    ),
    Reason.KEY_REVOKED: _invalid(
        "the key that signed the evidence is revoked", "Qualify the endpoint with a runner whose key is not revoked"
    ),
    Reason.SIGNATURE_INVALID: _invalid("the signature does not fit the content"),
    Reason.SHAPE_INVALID: _invalid(
        "the signed document is not a hearth.evidence/v1 document", "Qualify it again with a runner of this version"
    ),
    Reason.KEY_OUT_OF_PERIOD: _invalid(
        "the endpoint was tested outside the period in which the trust store accepts the key",
        "Qualify it again with a current key",
    ),
    Reason.KIND_NOT_LIVE: _invalid("the evidence is not of a live endpoint", _REPEAT),
    Reason.STATE_FAILED: _failed("the endpoint did not pass"),
    Reason.STATE_CONTRADICTED: _invalid("the evidence says that the endpoint passed, and lists a failed case"),
    Reason.CATALOGUE_OUTDATED: _stale("it was examined by an older catalogue of cases"),
    Reason.CATALOGUE_UNKNOWN: _invalid(
        "it was examined by a catalogue of cases that this version of Hearth does not know",
        "Use the version of Hearth that the runner has",
    ),
    Reason.SUPERSEDED: _stale("newer evidence of the same endpoint was believed before"),
    Reason.EXPIRED: _stale("the evidence has expired"),
    Reason.NOT_YET_VALID: _invalid(
        "the evidence was signed in the future", "Set the clocks of this machine and of the runner, and qualify again"
    ),
    Reason.VALIDITY_TOO_LONG: _invalid("the evidence is valid for longer than 30 days, or ends before it begins"),
    Reason.DEPLOYMENT_NOT_COVERED: _stale("a deployment of this endpoint was not examined"),
    Reason.OPERATION_NOT_COVERED: _stale("a declared operation was not examined"),
    Reason.CAPABILITY_NOT_PASSED: _invalid("a case that its operation needs was not run or did not pass", _REPEAT),
    Reason.PROBE_NOT_PASSED: _invalid("a case that the endpoint needs was not run or did not pass", _REPEAT),
    Reason.MODEL_CHANGED: _stale("another model was examined than the claim names"),
    Reason.ENVIRONMENT_MISMATCH: _invalid("the evidence is for another environment", _REPEAT),
    Reason.ENDPOINT_MISMATCH: _invalid("the evidence is for another endpoint", _REPEAT),
    Reason.ENDPOINT_CHANGED: _stale("address, protocol or way of identifying have changed since"),
    Reason.REVISION_CHANGED: _stale("the deployment has a new revision since"),
    Reason.RUNTIME_CHANGED: _stale("another physical runtime answered than the claim names"),
    Reason.CAPACITY_CHANGED: _stale("the declared capacity has changed since"),
    Reason.PROFILE_CHANGED: _stale("the network profile, its zone or its trust bundle have changed since"),
    Reason.CERTIFICATE_NOT_SEEN: _invalid("the run saw no certificate of an endpoint that must have one", _REPEAT),
    Reason.SIDECAR_NOT_DECLARED: _invalid(
        "the claim does not say enough of the sidecar, which somebody else runs, to bind evidence to it",
        "Write `configSha256` and `runtimePort` of the endpoint's `sidecar`",
    ),
    Reason.SIDECAR_MISSING: _invalid("the endpoint has a sidecar, and the evidence says nothing about it", _REPEAT),
    Reason.SIDECAR_IDENTITY_MISSING: _invalid("the run did not learn the sidecar's identity", _REPEAT),
    Reason.SIDECAR_PROFILE_CHANGED: _stale("the sidecar had another profile than the claim declares"),
    Reason.SIDECAR_CONFIG_CHANGED: _stale("the sidecar had another configuration than the claim compiles to"),
    Reason.SIDECAR_CERTIFICATE_MISMATCH: _invalid(
        "the certificate of the handshake is not the sidecar's own",
        "Look for a proxy between runner and sidecar, and qualify again without it",
    ),
    Reason.ISOLATION_MISSING: _invalid("there is no digest of what isolates the runtime behind the sidecar", _OUTSIDE),
    Reason.ISOLATION_CHANGED: _stale("the runtime was isolated in another way than the claim asks for"),
    Reason.RAW_PORT_NOT_TRIED: _invalid("the runtime's own port was not tried", _OUTSIDE),
    Reason.RAW_PORT_REACHABLE: _failed("the runtime's own port answered from outside"),
    Reason.VANTAGE_MISSING: _invalid("the evidence does not say from where the runtime's own port was tried", _OUTSIDE),
    Reason.VANTAGE_NOT_EXTERNAL: _invalid(
        "it is not shown that the runner stood outside the model server's own network namespace", _OUTSIDE
    ),
    Reason.RAW_TARGET_CHANGED: _stale("another address than the runtime's own was tried from outside"),
}
"""What each reason means."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a document."""

    reason: Reason
    """The code."""
    subject: str
    """What in the claim it is about, such as `gemma-home/chat`; empty for the document as a whole."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict that it leads to."""
        return EXPLANATIONS[self.reason].verdict

    @property
    def message(self) -> str:
        """Return one sentence for people without a full stop, beginning with what it is about."""
        text = EXPLANATIONS[self.reason].message
        return f"{self.subject}: {text}" if self.subject else text

    @property
    def remedy(self) -> str:
        """Return what to do, as a sentence without a full stop."""
        return EXPLANATIONS[self.reason].remedy

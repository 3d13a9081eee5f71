"""Probes of the transport: certificate, name, dates, versions of TLS, and plaintext that is meant (S4-42, S4-106)."""

import datetime
import hashlib
import ssl
from dataclasses import dataclass
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from hearth.probe.case import Facts, FailedError, Probe, SkippedError
from hearth.probe.target import Target, ask

_OFFERED_NOTHING: Final = ("NO_PROTOCOLS_AVAILABLE", "NO_CIPHERS_AVAILABLE")


@dataclass(frozen=True)
class Leaf:
    """The certificate that an endpoint shows in the handshake."""

    certificate: x509.Certificate
    """The certificate; whether it is the right one is asked elsewhere."""

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of its DER."""
        return hashlib.sha256(self.certificate.public_bytes(Encoding.DER)).hexdigest()

    @property
    def public_key_sha256(self) -> str:
        """Return the SHA-256 of its SubjectPublicKeyInfo."""
        key = self.certificate.public_key()
        return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _verifying_nothing() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def leaf(target: Target) -> Leaf:
    """Return the certificate of an endpoint, whatever it is.

    Raises:
        OSError: there is no handshake.
    """
    with target.connected(_verifying_nothing()) as made:
        assert isinstance(made, ssl.SSLSocket)  # noqa: S101 - an encrypted target gives no other
        return Leaf(x509.load_der_x509_certificate(made.getpeercert(binary_form=True) or b""))


def _days_left(target: Target) -> int:
    return (leaf(target).certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)).days


def _chain_and_name(target: Target) -> Facts:
    try:
        target.connected().close()
    except ssl.SSLCertVerificationError as error:
        reasons = {10: "certificate_expired", 9: "certificate_not_yet_valid", 62: "name_mismatch", 64: "name_mismatch"}
        raise FailedError(reasons.get(error.verify_code, "chain_not_trusted")) from None
    return {"days_left": _days_left(target)}


def _dates(target: Target) -> Facts:
    certificate, now = leaf(target).certificate, datetime.datetime.now(datetime.UTC)
    if now < certificate.not_valid_before_utc:
        raise FailedError("certificate_not_yet_valid")
    if now >= certificate.not_valid_after_utc:
        raise FailedError("certificate_expired")
    return {"days_left": (certificate.not_valid_after_utc - now).days}


def _refuses(target: Target, context: ssl.SSLContext, name: str, codes: tuple[int, ...], reason: str) -> Facts:
    try:
        target.connected(context, name).close()
    except ssl.SSLCertVerificationError as error:
        if error.verify_code in codes:
            return {}
        raise FailedError("refused_for_another_reason", verify_code=error.verify_code) from None
    raise FailedError(reason)


def _wrong_ca_refused(target: Target) -> Facts:
    """A client that trusts nobody refuses the chain: it is the bundle that decides."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return _refuses(target, context, target.host, (18, 19, 20, 21), "accepted_without_authority")


def _wrong_name_refused(target: Target) -> Facts:
    """The certificate is for its own names: not for any, and not for what stands in its common name alone."""
    for name in ("hearth-qualification.invalid", f"x-{target.host}"):
        _refuses(target, target.context(), name, (62, 64), "accepted_for_another_name")
    return {}


def _tls_floor(target: Target) -> Facts:
    context = _verifying_nothing()
    # Old versions need ciphers that OpenSSL offers at security level 0 alone.
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    try:
        target.connected(context).close()
    except ssl.SSLError as error:
        if error.reason in _OFFERED_NOTHING:
            raise SkippedError("old_tls_not_offered") from None
        return {}
    except ConnectionError:
        return {}
    raise FailedError("old_tls_accepted")


def _plaintext_declared(target: Target) -> Facts:
    return {"status": ask(target, "GET", target.path + "/models").status}


PROBES: Final = (
    Probe("transport.chain_and_name", "its certificate is of its own CA and for its name", _chain_and_name),
    Probe("transport.dates", "its certificate is valid now", _dates),
    Probe("transport.tls_floor", "it refuses versions of TLS before 1.2", _tls_floor),
    Probe("transport.wrong_ca_refused", "no other CA speaks for it", _wrong_ca_refused),
    Probe("transport.wrong_name_refused", "its certificate is for no other name", _wrong_name_refused),
    Probe("transport.plaintext_declared", "it answers HTTP where plaintext is declared", _plaintext_declared),
)
"""Probes of the transport."""

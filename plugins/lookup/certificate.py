"""Lookup `hearth.edge.certificate`: what a certificate says, read and verified on the control host."""

from __future__ import annotations

DOCUMENTATION = r"""
name: certificate
author: The Hearth authors
short_description: What a certificate says, and whether it would work
description:
  - Reads the first certificate of each PEM text on the control host, in the process of C(ansible-playbook) itself.
  - With O(key) it says whether the certificate belongs to that private key, and with O(bundle) whether it verifies.
options:
  _terms:
    description: PEM texts, each a certificate with its intermediate certificates behind it.
    required: true
  key:
    description: PEM text of the private key that the certificate has to belong to.
    type: str
  bundle:
    description: PEM text of the authorities that a server certificate has to verify against.
    type: str
  name:
    description: Host name or address that the certificate has to carry.
    type: str
"""

EXAMPLES = r"""
- name: Read when a certificate ends
  ansible.builtin.set_fact:
    ends: "{{ lookup('hearth.edge.certificate', lookup('file', 'tls.crt')).not_after }}"
"""

RETURN = r"""
_raw:
  description:
    - One dictionary for each text.
    - C(readable) is false when the text is no certificate, and then there is nothing else.
    - C(not_before) and C(not_after) are in UTC as C(YYYYMMDDhhmmssZ); C(expired) says whether the end has passed.
    - C(names) are the subject alternative names, such as C(DNS:gpu.lan) and C(IP:192.168.1.5).
    - C(fingerprint) is the SHA-256 digest of the certificate in hexadecimal digits.
    - C(subject_key) and C(authority_key) are the key identifiers in hexadecimal digits, empty where there is none.
    - C(key) is C(unreadable) or C(other) when O(key) is given and is not the right one, and else empty.
    - C(covers) says whether it carries O(name), by itself or by a wildcard; true when O(name) is not given.
    - C(unverified) says why it does not verify when O(bundle) is given, and else is empty.
  type: list
  elements: dict
"""

from datetime import UTC, datetime
from ipaddress import ip_address

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

try:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
    from cryptography.x509.oid import ExtendedKeyUsageOID
    from cryptography.x509.verification import (
        Criticality,
        ExtensionPolicy,
        PolicyBuilder,
        Store,
        VerificationError,
    )
except ImportError as error:
    MISSING: ImportError | None = error
else:
    MISSING = None

TIME = "%Y%m%d%H%M%SZ"


class LookupModule(LookupBase):
    """Reads certificates with the library that the modules of community.crypto use."""

    def run(self, terms: list[str], variables: dict | None = None, **kwargs: object) -> list[dict]:
        """Return what each certificate says."""
        if MISSING is not None:
            raise AnsibleLookupError(
                f"the Python package cryptography cannot be imported on the control host: {MISSING}. "
                "Install it into the Python of ansible-playbook: pip install cryptography."
            )
        self.set_options(var_options=variables, direct=kwargs)
        return [read(term, *map(self.get_option, ("key", "bundle", "name"))) for term in terms]


def read(text: str, key: str | None, bundle: str | None, name: str | None = None) -> dict:
    """Return what the first certificate of a text says, and what is wrong with it."""
    try:
        certificate = x509.load_pem_x509_certificate(text.encode())
        names = _names(certificate)
        subject_key = _identifier(certificate, x509.SubjectKeyIdentifier)
        authority_key = _identifier(certificate, x509.AuthorityKeyIdentifier)
    except (ValueError, x509.DuplicateExtension):
        return {"readable": False}
    return {
        "readable": True,
        "not_before": certificate.not_valid_before_utc.strftime(TIME),
        "not_after": certificate.not_valid_after_utc.strftime(TIME),
        "expired": certificate.not_valid_after_utc < datetime.now(UTC),
        "names": names,
        "fingerprint": certificate.fingerprint(SHA256()).hex(),
        "subject_key": subject_key,
        "authority_key": authority_key,
        "key": "" if key is None else _wrong_key(certificate, key),
        "covers": name is None or _covers(names, name),
        "unverified": "" if bundle is None else _unverified(text, bundle),
    }


def _names(certificate: x509.Certificate) -> list[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    kinds = {x509.DNSName: "DNS", x509.IPAddress: "IP", x509.UniformResourceIdentifier: "URI", x509.RFC822Name: "email"}
    return [f"{kinds.get(type(name), type(name).__name__)}:{name.value}" for name in found]


def _identifier(certificate: x509.Certificate, kind: type) -> str:
    try:
        found = certificate.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return ""
    digest = found.digest if isinstance(found, x509.SubjectKeyIdentifier) else found.key_identifier
    return (digest or b"").hex()


def _wrong_key(certificate: x509.Certificate, key: str) -> str:
    try:
        public = load_pem_private_key(key.encode(), None).public_key()
    except (ValueError, TypeError):  # no key, or an encrypted one
        return "unreadable"
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return "" if public.public_bytes(*form) == certificate.public_key().public_bytes(*form) else "other"


def _covers(names: list[str], name: str) -> bool:
    """Whether a certificate with these names is one for a host; a wildcard stands for one whole label, the first."""
    try:
        return f"IP:{ip_address(name)}" in names
    except ValueError:
        _, _, rest = name.lower().partition(".")
        return {f"dns:{name.lower()}", f"dns:*.{rest}"} & {one.lower() for one in names} != set()


def _unverified(text: str, bundle: str) -> str:
    """Verify a chain as OpenSSL does in HAProxy, which asks for less than the public web does."""
    try:
        leaf, *chain = x509.load_pem_x509_certificates(text.encode())
        authorities = x509.load_pem_x509_certificates(bundle.encode())
    except ValueError:
        return "the trust bundle or an intermediate certificate cannot be read"
    roots = [one for one in authorities if one.issuer == one.subject]
    if not roots:
        return "the trust bundle holds no root"
    chain += [one for one in authorities if one not in roots]
    try:
        subject = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value[0]
    except (x509.ExtensionNotFound, IndexError):
        return "it carries no subject alternative name"
    # the name is looked at by itself; here only what a wildcard stands for has to be a name
    if isinstance(subject, x509.DNSName):
        subject = x509.DNSName(subject.value.replace("*", "any", 1))
    elif not isinstance(subject, x509.IPAddress):
        return "its first subject alternative name is neither a DNS name nor an address"
    policies = {"ca_policy": _issuer_policy(), "ee_policy": _server_policy()}
    try:
        builder = PolicyBuilder().store(Store(roots)).extension_policies(**policies)
        builder.build_server_verifier(subject).verify(leaf, chain)
    except (VerificationError, ValueError) as refused:
        return str(refused).removeprefix("validation failed: ").removeprefix("candidates exhausted: ").strip()
    return ""


def _issuer_policy() -> ExtensionPolicy:
    """Return what a certificate needs to issue others."""

    def may_issue(_policy: object, _certificate: object, usage: x509.KeyUsage | None) -> None:
        if usage is not None and not usage.key_cert_sign:
            raise ValueError("an authority's key usage is not to sign certificates")

    policy = ExtensionPolicy.permit_all().require_present(x509.BasicConstraints, Criticality.AGNOSTIC, None)
    return policy.may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, may_issue)


def _server_policy() -> ExtensionPolicy:
    """Return what a server's certificate needs."""

    def may_serve(_policy: object, _certificate: object, purposes: x509.ExtendedKeyUsage | None) -> None:
        wanted = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
        if purposes is not None and not wanted & set(purposes):
            raise ValueError("its extended key usage is not that of a server")

    def may_sign(_policy: object, _certificate: object, usage: x509.KeyUsage | None) -> None:
        if usage is not None and not (usage.digital_signature or usage.key_encipherment or usage.key_agreement):
            raise ValueError("its key usage is not that of a server")

    policy = ExtensionPolicy.permit_all().require_present(x509.SubjectAlternativeName, Criticality.AGNOSTIC, None)
    policy = policy.may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, may_serve)
    return policy.may_be_present(x509.KeyUsage, Criticality.AGNOSTIC, may_sign)

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
    description: PEM text of the authorities that a server certificate has to verify against, by C(openssl verify).
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
    - C(unverified) is what C(openssl verify) said when O(bundle) is given and it refused, and else empty.
  type: list
  elements: dict
"""

import re
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

try:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
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
        return [read(term, self.get_option("key"), self.get_option("bundle")) for term in terms]


def read(text: str, key: str | None, bundle: str | None) -> dict:
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


def _unverified(chain: str, bundle: str) -> str:
    """Verify as HAProxy's and the gateway's OpenSSL do."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("bundle", "chain")]
        for file, text in zip(files, (bundle, chain), strict=True):
            file.write_text(text)
        alone = ["-no-CApath", "-no-CAstore", "-purpose", "sslserver"]
        found = subprocess.run(  # noqa: S603 - fixed words and files of this function
            ["openssl", "verify", *alone, "-CAfile", files[0], "-untrusted", files[1], files[1]],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
    if found.returncode == 0:
        return ""
    said = found.stderr.replace(str(files[0]), "the bundle").replace(str(files[1]), "it").splitlines()
    return "; ".join([line for line in said if re.match("error [0-9]+ at ", line)] or said)

"""Evidence as an in-toto statement in a DSSE envelope, for tools that know those formats and not Hearth's.

The envelope carries the document whole, with its own signature. Both signatures are checked, by one key: the outer one
first, because until it holds nothing of the payload is looked at.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hearth.canonical import MalformedError, canonical
from hearth.evidence.document import Evidence
from hearth.evidence.reading import read_document
from hearth.evidence.signing import decode, evidence_digest
from hearth.evidence.trust import TrustStore

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
"""What the payload of an envelope is."""
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
"""Version of the in-toto statement."""
PREDICATE_TYPE: Final = "https://hearth.dev/evidence/v1"
"""Type of the predicate; it is for ever, as the document's version is."""


class EnvelopeError(ValueError):
    """An envelope whose signature no known key made, or that holds no evidence. The message repeats nothing of it."""


def _authenticated(payload: bytes) -> bytes:
    """Return what the signature of an envelope covers (DSSE's pre-authentication encoding)."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def statement_of(evidence: Evidence) -> dict[str, Any]:
    """Return evidence as an in-toto statement; its subject is the digest that names the document."""
    document = evidence.model_dump(mode="json", by_alias=True)
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": f"{evidence.environment}/{evidence.endpoint}", "digest": {"sha256": evidence_digest(document)}}
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": document,
    }


def envelope_text(evidence: Evidence, key: Ed25519PrivateKey) -> str:
    """Return evidence in an envelope that its own key signs.

    Args:
        evidence: a signed document.
        key: the private key of its `signerKeyId`.
    """
    payload = canonical(statement_of(evidence))
    signature = base64.b64encode(key.sign(_authenticated(payload))).decode()
    envelope = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": evidence.signer_key_id, "sig": signature}],
    }
    return json.dumps(envelope, indent=2) + "\n"


def is_envelope(document: Mapping[str, Any]) -> bool:
    """Return whether an object is an envelope and not a document of evidence."""
    return "payloadType" in document and "signatures" in document


def claimed_environment(envelope: Mapping[str, Any]) -> object:
    """Return the environment that an envelope says it is of, to know whose keys to ask; nothing of it is checked."""
    try:
        predicate = read_document(_payload(envelope)).get("predicate")
    except (MalformedError, EnvelopeError):
        return None
    return predicate.get("environment") if isinstance(predicate, dict) else None


def opened(envelope: Mapping[str, Any], trust_store: TrustStore) -> bytes:
    """Return the document of evidence in an envelope, whose own signature is still to be verified.

    Raises:
        EnvelopeError: no known key that is not revoked signed it, or it holds no evidence of that key.
    """
    if envelope.get("payloadType") != PAYLOAD_TYPE:
        raise EnvelopeError("the envelope does not hold an in-toto statement")
    payload, signers = _payload(envelope), envelope.get("signatures")
    for signer in signers if isinstance(signers, list) else ():
        if isinstance(signer, Mapping) and _signed(signer, payload, trust_store):
            return _predicate(payload, str(signer["keyid"]))
    raise EnvelopeError("no key that the trust store knows and that is not revoked signed the envelope")


def _payload(envelope: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(str(envelope.get("payload")).encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise EnvelopeError("the payload of the envelope is not base64") from None


def _signed(signer: Mapping[str, Any], payload: bytes, trust_store: TrustStore) -> bool:
    name, text = signer.get("keyid"), signer.get("sig")
    key = trust_store.keys.get(name) if isinstance(name, str) else None
    if key is None or key.revoked or not isinstance(text, str):
        return False
    try:
        key.ed25519.verify(decode(text, 64), _authenticated(payload))
    except (InvalidSignature, ValueError):
        return False
    return True


def _predicate(payload: bytes, key_id: str) -> bytes:
    try:
        statement = read_document(payload)
        predicate = statement.get("predicate")
        right = (
            isinstance(predicate, dict)
            and statement.get("_type") == STATEMENT_TYPE
            and statement.get("predicateType") == PREDICATE_TYPE
            and predicate.get("signerKeyId") == key_id
            and statement.get("subject")
            == [
                {
                    "name": f"{predicate.get('environment')}/{predicate.get('endpoint')}",
                    "digest": {"sha256": evidence_digest(predicate)},
                }
            ]
        )
    except MalformedError:
        right = False
    if not right:
        raise EnvelopeError("the envelope holds no evidence of the key that signed it")
    return canonical(statement["predicate"])

"""Trust bundles: the files exist, are what their digests say, and hold CA certificates alone (S4-54, S4-55)."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.network import TrustBundle
from hearth.claim.reader import Path as Place

MAX_BYTES: Final = 1_048_576
"""Largest trust bundle in bytes."""

_BEGIN = re.compile(r"^-----BEGIN ([A-Z0-9 ]+)-----\s*$", re.MULTILINE)


def _content(base: Path, bundle: TrustBundle) -> bytes | Finding:
    """Return a bundle's bytes, or what is wrong, with an empty path."""
    file = base / bundle.file
    try:
        if not file.resolve().is_relative_to(base.resolve()):
            return Finding((), "leads out of the project's folder", "Put the file into the project")
        if not file.is_file():
            return Finding((), "names no file of the project's folder", "Correct the path, or add the file")
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except (OSError, RuntimeError):
        return Finding((), "names a file that cannot be read", "Check its permissions")
    if len(content) > MAX_BYTES:
        return Finding((), "names a file that is larger than 1 MiB", "Keep CA certificates in it and nothing else")
    return content


def _not_ca_certificates(content: bytes) -> tuple[str, str] | None:
    """Return why a bundle is not CA certificates alone, and what to do, or `None`."""
    # Only environments with trust bundles wait for this import.
    from cryptography import x509

    try:
        text = content.decode("ascii")
    except UnicodeDecodeError:
        return "is not PEM text", "Write the CA certificates as PEM, with nothing outside ASCII"
    labels = _BEGIN.findall(text)
    if any("PRIVATE KEY" in label for label in labels) or "PRIVATE KEY" in text:
        return "holds a private key", "Remove it from the project and its history, and replace the CA"
    if not labels or set(labels) != {"CERTIFICATE"}:
        return "holds something other than certificates", "Keep CERTIFICATE blocks in it and nothing else"
    try:
        certificates = x509.load_pem_x509_certificates(content)
        for certificate in certificates:
            constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
            if not constraints.ca:
                return "holds a certificate that is not a CA's", "Put in the CA that issues the server's certificate"
    except x509.ExtensionNotFound:
        return "holds a certificate that is not a CA's", "Put in the CA that issues the server's certificate"
    except ValueError:
        return "holds a certificate that cannot be read", "Export it again as PEM"
    return None


def _versions(draft: Draft, name: str, bundle: TrustBundle) -> Iterator[Finding]:
    """S4-55: other bytes have a higher version than the one that was deployed last."""
    before = draft.deployed.trust_bundles.get(name) if draft.deployed else None
    if before is None:
        return
    place: Place = ("trustBundles", name, "version")
    if bundle.version < before.version:
        yield Finding(place, f"is below the deployed version {before.version}", "Versions go up alone")
    elif bundle.sha256 != before.sha256 and bundle.version == before.version:
        yield Finding(place, "is that of other bytes, which are deployed", f"Write {before.version + 1}")


def read_bundles(draft: Draft) -> tuple[Mapping[str, str], list[Finding]]:
    """Return the PEM text of every usable trust bundle by its id, and what is wrong with the others."""
    texts: dict[str, str] = {}
    found: list[Finding] = []
    for name, bundle in draft.claim.trust_bundles.items():
        place: Place = ("trustBundles", name)
        found.extend(_versions(draft, name, bundle))
        content = _content(draft.base, bundle)
        if isinstance(content, Finding):
            found.append(Finding((*place, "file"), content.message, content.remedy))
            continue
        problem = _not_ca_certificates(content)
        if problem is not None:
            found.append(Finding((*place, "file"), *problem))
        elif hashlib.sha256(content).hexdigest() != bundle.sha256:
            found.append(
                Finding(
                    (*place, "sha256"),
                    "is not the digest of the file",
                    "Raise version and write what sha256sum prints, if the change is meant",
                )
            )
        else:
            texts[name] = content.decode("ascii")
    return texts, found

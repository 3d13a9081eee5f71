"""Runner keys: made, renewed and revoked in the trust store (S4-104).

A private key is a file of its own that its owner alone can read. It is never an argument, never printed and never in
the project's folder, where it would be rendered, committed or sent along.
"""

import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from hearth.claim.problems import ClaimError, Problem
from hearth.evidence.document import moment, timestamp
from hearth.evidence.store import read_trust_store, trust_store_name
from hearth.evidence.trust import RunnerKey, TrustStore, public_key_text
from hearth.yaml_text import yaml_text

DEFAULT_DAYS: Final = 100
"""Days that a new key may sign: a quarter, and some days in which the next one is made."""
_HEAD: Final = (
    "# Public keys of the runners whose evidence the environment {environment} believes.\n"
    "# Owned by others than the authors of the claims; written by `hearth runner-key`.\n"
)


def _refuse(path: str, message: str, remedy: str) -> ClaimError:
    return ClaimError([Problem(path, message, remedy)])


def write_private_key(path: Path, project: Path) -> Ed25519PrivateKey:
    """Make a private key and write it to a new file that its owner alone can read.

    Raises:
        ClaimError: the file is there already, lies in the project's folder, or cannot be written.
    """
    if path.resolve().is_relative_to(project.resolve()):
        raise _refuse("-o", "lies in the project's folder", "Keep a private key where nothing renders or commits it")
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise _refuse("-o", "is there already", "Name a new file; a key is never written over") from None
    except OSError as error:
        raise _refuse("-o", f"cannot be written: {error.strerror}", "Check the folder and its permissions") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
    return key


def read_private_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in a file that its owner alone can read.

    Raises:
        ClaimError: it cannot be read, others may read it, or it holds no Ed25519 key.
    """
    try:
        if path.stat().st_mode & 0o077:
            raise _refuse("--key", "can be read by others than its owner", "chmod 600 it, and make another key")
        data = path.read_bytes()
    except OSError as error:
        raise _refuse("--key", f"cannot be read: {error.strerror}", "Name a file of `hearth runner-key new`") from None
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise _refuse("--key", "holds no Ed25519 key in PEM", "Name a file of `hearth runner-key new`")
    return key


def require_new(store: TrustStore | None, key_id: str) -> None:
    """Refuse an id that was used before; asked before a private key lies anywhere.

    Raises:
        ClaimError: it was.
    """
    if store is not None and key_id in store.keys:
        raise _refuse("KEY-ID", "was used before", "Give a new key a new id, such as one with the next quarter in it")


def with_new_key(
    store: TrustStore | None, key_id: str, key: Ed25519PrivateKey, *, now: datetime.datetime, days: int
) -> TrustStore:
    """Return a trust store with one more key, which may sign from now on.

    Raises:
        ClaimError: the id was used before.
    """
    require_new(store, key_id)
    keys = dict(store.keys) if store else {}
    keys[key_id] = RunnerKey.model_validate(
        {
            "publicKey": public_key_text(key.public_key()),
            "notBefore": timestamp(now),
            "notAfter": timestamp(now + datetime.timedelta(days=days)),
        }
    )
    return _store(keys)


def with_ended_key(store: TrustStore | None, key_id: str, *, now: datetime.datetime) -> TrustStore:
    """Return a trust store in which a key signs nothing from now on; what it signed stays good until it expires.

    Raises:
        ClaimError: there is no such key.
    """
    key = _key(store, key_id)
    end = min(moment(key.not_after), max(now, moment(key.not_before) + datetime.timedelta(seconds=1)))
    return _changed(store, key_id, key.model_copy(update={"not_after": timestamp(end)}))


def with_revoked_key(store: TrustStore | None, key_id: str) -> TrustStore:
    """Return a trust store that believes nothing of what a key ever signed.

    Raises:
        ClaimError: there is no such key.
    """
    return _changed(store, key_id, _key(store, key_id).model_copy(update={"revoked": True}))


def _key(store: TrustStore | None, key_id: str) -> RunnerKey:
    if store is None or key_id not in store.keys:
        known = ", ".join(sorted(store.keys)) if store and store.keys else "none"
        raise _refuse("KEY-ID", "is not in the trust store", f"Its keys: {known}")
    return store.keys[key_id]


def _changed(store: TrustStore | None, key_id: str, key: RunnerKey) -> TrustStore:
    return _store({**(store.keys if store else {}), key_id: key})


def _store(keys: Mapping[str, RunnerKey]) -> TrustStore:
    return TrustStore(version="hearth.trust-store/v1", keys=dict(keys))


def trust_store_text(store: TrustStore, environment: str) -> str:
    """Return a trust store as its file has it."""
    document = store.model_dump(mode="json", by_alias=True)
    return _HEAD.format(environment=environment) + yaml_text(document)


def write_trust_store(base: Path, environment: str, store: TrustStore) -> Path:
    """Replace an environment's trust store as a whole, and read it again.

    Raises:
        ClaimError: it cannot be written, or what was written is not the store.
    """
    name = trust_store_name(environment)
    path = base / name
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(trust_store_text(store, environment), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise _refuse(name, f"cannot be written: {error.strerror}", "Ask its owners, or check permissions") from None
    if read_trust_store(base, environment) != store:
        raise _refuse(name, "is not what was written", "Look for another program that writes it")
    return path

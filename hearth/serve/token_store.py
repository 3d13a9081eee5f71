"""The tokens of private instances, as the server that checks them keeps them: keyed digests and nothing else (C-7).

A token is a Secret in the namespace of its instance. It counts only when it is bound to the instance: by its namespace,
by its label, and by an owner reference with the instance's name and UID. A Secret that anybody made elsewhere, or for
an instance that was deleted and made again under the same name, is not one.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

INSTANCE_LABEL: Final = "hearth.dev/private-instance"
"""Label of a token's Secret; its value is the name of the instance."""
TOKEN_KEY: Final = "OPENAI_API_KEY"  # noqa: S105 - the key's name
"""Key of the token in its Secret (S2-2)."""
SLUG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{10}[A-Za-z0-9]")
"""A slug: 9 random bytes in base64url whose ends make it a label (S2-3, U-20)."""
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")
"""A token: 32 random bytes in base64url (S2-17). A weaker one is no token, whoever wrote it."""


class InstancesError(Exception):
    """The file of instances cannot be used; the message says why."""


class Instance(BaseModel):
    """A private instance whose tokens are checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    """Its name, which the label and the owner reference of its tokens have."""
    uid: str = Field(min_length=1, max_length=64)
    """UID of the object that owns its tokens."""
    slug: str = Field(pattern=f"^{SLUG.pattern}$")
    """What its route calls it."""


class Instances(BaseModel):
    """The instances of one namespace."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    namespace: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
    """Namespace of the instances and of their tokens."""
    instances: tuple[Instance, ...]
    """The instances."""


def read_instances(file: Path) -> Instances:
    """Read the file of instances.

    Args:
        file: JSON, as `Instances` describes it.

    Raises:
        InstancesError: it cannot be read, is not well-formed, or has a name or a slug twice.
    """
    try:
        found = Instances.model_validate_json(file.read_bytes())
    except OSError as error:
        raise InstancesError(f"{file} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        places = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'file'}: {each['msg']}" for each in error.errors())
        raise InstancesError(f"{file}: {places}") from None
    for what, values in (
        ("name", [each.name for each in found.instances]),
        ("slug", [each.slug for each in found.instances]),
    ):
        twice = sorted(value for value, count in Counter(values).items() if count > 1)
        if twice:
            raise InstancesError(f"{file}: the {what} {', '.join(twice)} is there twice")
    return found


@dataclass(frozen=True)
class _Held:
    """What is kept of one Secret."""

    digest: bytes | None
    """Of slug and token; none when the Secret opens nothing."""


class TokenStore:
    """The tokens of one namespace by digest.

    The cost of a check does not grow with the number of tokens, and its time depends on no token: what is looked up is
    an HMAC under a key that this process alone has, so that nobody can choose what it is compared with.
    """

    def __init__(self, instances: Instances) -> None:
        """Begin with no token.

        Args:
            instances: whose tokens count.
        """
        self.namespace = instances.namespace
        self._instances: Final[Mapping[str, Instance]] = {each.name: each for each in instances.instances}
        self._key = secrets.token_bytes(32)
        self._by_secret: dict[str, _Held] = {}
        self._counts: Counter[bytes] = Counter()

    @property
    def tokens(self) -> int:
        """How many Secrets open an instance."""
        return self._counts.total()

    @property
    def refused(self) -> int:
        """How many Secrets have the label and open nothing."""
        return len(self._by_secret) - self.tokens

    def allows(self, slug: str, token: str) -> bool:
        """Return whether a token opens the instance that a route calls by a slug."""
        return self._digest(slug, token) in self._counts

    def put(self, secret: Mapping[str, Any]) -> None:
        """Take over a Secret as it is now."""
        name = str(secret["metadata"]["name"])
        self.remove(name)
        digest = self._opens(secret)
        self._by_secret[name] = _Held(digest)
        if digest is not None:
            self._counts[digest] += 1

    def remove(self, name: str) -> None:
        """Forget a Secret. A token that a second Secret holds too stays one."""
        held = self._by_secret.pop(name, None)
        if held is None or held.digest is None:
            return
        self._counts[held.digest] -= 1
        if not self._counts[held.digest]:
            del self._counts[held.digest]

    def replace(self, found: Iterable[Mapping[str, Any]]) -> None:
        """Take over all Secrets at once; no check sees half of them."""
        fresh = TokenStore(Instances(namespace=self.namespace, instances=tuple(self._instances.values())))
        fresh._key = self._key
        for secret in found:
            fresh.put(secret)
        self._by_secret, self._counts = fresh._by_secret, fresh._counts

    def _opens(self, secret: Mapping[str, Any]) -> bytes | None:
        """Return the digest of what a Secret opens, or none when it is not bound to an instance."""
        metadata = secret["metadata"]
        instance = self._instances.get((metadata.get("labels") or {}).get(INSTANCE_LABEL, ""))
        if instance is None or metadata.get("namespace") != self.namespace or "deletionTimestamp" in metadata:
            return None
        owners = metadata.get("ownerReferences") or ()
        if not any(owner.get("uid") == instance.uid and owner.get("name") == instance.name for owner in owners):
            return None
        try:
            token = base64.b64decode((secret.get("data") or {}).get(TOKEN_KEY, ""), validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return self._digest(instance.slug, token) if TOKEN.fullmatch(token) else None

    def _digest(self, slug: str, token: str) -> bytes:
        return hmac.digest(self._key, json.dumps([slug, token]).encode(), hashlib.sha256)

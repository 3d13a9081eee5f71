"""A set of configuration files, and the digest that names it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class ConfigFiles:
    """Files of one configuration, by name.

    Names are plain file names without a folder, so that the set fits a ConfigMap and a folder alike.
    """

    files: Mapping[str, str]
    """Text by file name, in the order of the names."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", MappingProxyType(dict(sorted(self.files.items()))))

    @property
    def digest(self) -> str:
        """Return the SHA-256 over names and contents, as 64 hexadecimal digits (U-17).

        Each name and each content is preceded by its length in bytes (eight bytes, most significant first), in
        the order of the names; no other set of files has the same input, and no version of a tool is part of it.
        """
        digest = hashlib.sha256()
        for name, text in self.files.items():
            for part in (name.encode(), text.encode()):
                digest.update(len(part).to_bytes(8, "big"))
                digest.update(part)
        return digest.hexdigest()

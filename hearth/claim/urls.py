"""Base URLs: one spelling for one address, so that every reader takes it apart in the same way (S4-29, S4-30)."""

import re
from dataclasses import dataclass
from typing import Literal

from hearth.claim.addresses import IPAddress, parse_host

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#\\]*)(?P<path>[^?#\\]*)(?P<rest>.*)\Z", re.DOTALL
)
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(:(?P<port>.*))?\Z", re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}\Z")
_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?\Z")


@dataclass(frozen=True)
class BaseUrl:
    """A base URL, taken apart."""

    scheme: Literal["http", "https"]
    """`http` or `https`."""
    host: IPAddress | str
    """An address, or a DNS name in lower case."""
    port: int
    """The effective TCP port."""
    path: str
    """The path prefix without a slash at its end; empty for none."""


def parse_base_url(text: str) -> BaseUrl:
    """Return a base URL, taken apart.

    Raises:
        ValueError: its text says what is wrong, as the end of the sentence "the address …", without the address.
    """
    if len(text) > 2048 or not text.isprintable() or " " in text:
        raise ValueError("is not one line of at most 2048 printable characters without spaces")
    match = _URL.match(text)
    if match is None or match["scheme"] not in ("http", "https"):
        raise ValueError("does not begin with http:// or https:// in lower case, or has a backslash")
    authority = match["authority"]
    if "@" in authority or "@" in match["path"]:
        raise ValueError("must not have a user or password")
    if match["rest"].startswith("?"):
        raise ValueError("must not have a query")
    if match["rest"]:
        raise ValueError("must not have a fragment or a backslash")
    parts = _AUTHORITY.match(authority)
    if parts is None or not parts["host"]:
        raise ValueError("has no host")
    try:
        host = parse_host(parts["host"])
    except ValueError as error:
        raise ValueError(f"has a host that {error}") from None
    port = 443 if match["scheme"] == "https" else 80
    if parts["port"] is not None:
        if not _PORT.match(parts["port"]) or int(parts["port"]) > 65535:
            raise ValueError("has a port that is not a number from 1 to 65535")
        port = int(parts["port"])
    if not _PATH.match(match["path"]):
        raise ValueError("has a path with characters other than letters, digits, - _ ~ and single dots and slashes")
    scheme: Literal["http", "https"] = "https" if match["scheme"] == "https" else "http"
    return BaseUrl(scheme, host, port, match["path"].rstrip("/"))

"""Addresses in parts: the one place where a URL of the claim is taken apart."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


@dataclass(frozen=True)
class Address:
    """An address, never joined again but for the program that takes a URL."""

    scheme: str
    """`http` or `https`."""
    host: str
    """DNS name in lower case, or an address without brackets."""
    port: int
    """TCP port."""
    path: str
    """Path prefix without a slash at its end, such as `/v1`; empty for none."""

    @property
    def authority(self) -> str:
        """Return host and port as a URL has them, an IPv6 address in brackets."""
        return f"{self.bracketed_host}:{self.port}"

    @property
    def bracketed_host(self) -> str:
        """Return the host as a URL has it, an IPv6 address in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def is_ip_address(self) -> bool:
        """Return whether the host is an address, which is not looked up."""
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True

    @property
    def number(self) -> str:
        """Return the host of a loopback address as a number: a program must not look `localhost` up."""
        return "127.0.0.1" if self.host == "localhost" else self.host


def address_of(url: str) -> Address:
    """Return a URL of the claim in parts. The rules of the claim have checked it before."""
    parts = urlsplit(url)
    return Address(
        parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme], parts.path.rstrip("/")
    )

"""Looking up a host's addresses: a parameter of the loader, so that the claim's rules need no network."""

from collections.abc import Callable, Sequence
from ipaddress import ip_address

from hearth.claim.addresses import IPAddress

Resolver = Callable[[str], Sequence[IPAddress]]
"""Returns every address of a host name; raises `OSError` when there is none."""

TIMEOUT_SECONDS = 5.0
"""Longest wait for one host name."""


def system_resolver(host: str) -> Sequence[IPAddress]:
    """Return every address that this machine's resolver knows for a host name.

    Raises:
        OSError: the name has no address, or the resolver does not answer within `TIMEOUT_SECONDS`.
    """
    # Only a call that looks something up waits for these imports.
    import socket
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(max_workers=1)
    try:
        answers = pool.submit(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM).result(TIMEOUT_SECONDS)
    finally:
        pool.shutdown(wait=False)
    return [ip_address(str(answer[4][0]).split("%")[0]) for answer in answers]

"""A name server of one test: it answers A and AAAA from a table that the test changes while it runs."""

import socket
import struct
import threading
from collections.abc import Callable
from ipaddress import ip_address


class DnsStub:
    """UDP name server on loopback.

    `names` maps a name to its addresses, or to a function that returns them; `aliases` maps a name to another one.
    `lost` is how many of the next queries get no answer.
    """

    def __init__(self, port: int = 5399) -> None:
        self.names: dict[str, list[str] | Callable[[], list[str]]] = {}
        self.aliases: dict[str, str] = {}
        self.queries = 0
        self.silent = False
        self.lost = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> "DnsStub":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                query, client = self._socket.recvfrom(4096)
            except OSError:
                return
            self.queries += 1
            if self.lost:
                self.lost -= 1
            elif not self.silent:
                self._socket.sendto(self._answer(query), client)

    def _answer(self, query: bytes) -> bytes:
        labels, position = [], 12
        while query[position]:
            length = query[position]
            labels.append(query[position + 1 : position + 1 + length].decode())
            position += 1 + length
        question = query[12 : position + 5]
        kind = struct.unpack(">H", query[position + 1 : position + 3])[0]
        name = ".".join(labels).lower()
        records: list[bytes] = []
        while (target := self.aliases.get(name)) is not None:
            records.append(_record(name, 5, _encoded(target)))
            name = target
        entry = self.names.get(name)
        addresses = entry() if callable(entry) else entry
        wanted = {1: 4, 28: 6}.get(kind)
        found = [ip_address(text) for text in addresses or [] if ip_address(text).version == wanted]
        code = 0 if addresses is not None else 3
        records += [_record(name, kind, address.packed) for address in found]
        header = query[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        return header + question + b"".join(records)


def _encoded(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def _record(name: str, kind: int, data: bytes) -> bytes:
    return _encoded(name) + struct.pack(">HHIH", kind, 1, 1, len(data)) + data

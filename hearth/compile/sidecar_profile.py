"""The validator of a sidecar: nothing in it may select an upstream, and what is not declared is denied (S4-71)."""

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

FORBIDDEN: Final = (
    "use_backend",
    "listen",
    "resolvers",
    "peers",
    "server-template",
    "http_proxy",
    "dispatch",
    "balance",
    "fcgi-app",
    "program",
    "stats",
)
"""Directives by which a caller, or a name server, could choose where a request goes or reach the process itself."""
FORBIDDEN_ACTIONS: Final = ("do-resolve", "set-dst", "set-dst-port", "use-service", "redirect", "set-path", "set-pathq")
"""The same as actions of `http-request` and `tcp-request`."""
DENIAL: Final = "unless { var(txn.operation) -m found }"
"""Condition of the rule that answers everything undeclared."""


class ProfileError(ValueError):
    """A sidecar's text that must not be installed. The message says what is wrong."""


def _sections(text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each section's opening line and its directives as words."""
    opening, directives = "", list[list[str]]()
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if line[0].isspace():
            directives.append(words)
            continue
        if opening:
            yield opening, directives
        opening, directives = " ".join(words), []
    if opening:
        yield opening, directives


def _check_directive(words: list[str]) -> None:
    if words[0] in FORBIDDEN:
        raise ProfileError(f"the directive {words[0]} can select an upstream")
    if words[0] in ("http-request", "http-response", "tcp-request") and any(
        word.split("(")[0] in FORBIDDEN_ACTIONS for word in words[1:3]
    ):
        raise ProfileError(f"the action {' '.join(words[:3])} can select an upstream")
    if words[:2] == ["http-request", "set-uri"] and words[2:] != ["%[path]"]:
        raise ProfileError("set-uri may only drop the authority of the request target")


def _check_upstream(backends: dict[str, list[list[str]]]) -> None:
    servers = [words for directives in backends.values() for words in directives if words[0] == "server"]
    if len(backends) != 1 or len(servers) != 1:
        raise ProfileError(f"one backend with one server is permitted, not {len(backends)} with {len(servers)}")
    address = re.fullmatch(r"(?:ipv6@\[(?P<v6>[^]]+)\]|(?P<v4>[0-9.]+)):[0-9]+", servers[0][2])
    if address is None or not ip_address(address["v6"] or address["v4"]).is_loopback:
        raise ProfileError(f"the server {servers[0][2]} is not a loopback address and port")


def _check_denial(name: str, directives: list[list[str]]) -> None:
    """Check that a frontend which reaches the runtime denies before anything else can answer."""
    defaults = [words[1] for words in directives if words[0] == "default_backend"]
    if not defaults:
        return
    rules = [" ".join(words) for words in directives if words[0] == "http-request"]
    decisions = [rule for rule in rules if not rule.startswith("http-request set-var(txn.operation) str(")]
    if len(defaults) != 1 or not decisions or not decisions[0].endswith(DENIAL):
        raise ProfileError(f"the frontend {name} does not deny what is not declared before everything else")
    if not decisions[0].startswith("http-request return status 404 "):
        raise ProfileError(f"the frontend {name} does not answer 404 to what is not declared")
    declared = [rule for rule in rules if rule.startswith("http-request set-var(txn.operation)")]
    exact = re.compile(
        r"http-request set-var\(txn\.operation\) str\([a-z]+\) if \{ method (GET|POST) \} "
        r"\{ pathq -m str /[a-z0-9/_-]+ \}"
    )
    if not declared or not all(exact.fullmatch(rule) for rule in declared):
        raise ProfileError(f"the frontend {name} declares an operation without exact method and path")


def check_profile(text: str) -> None:
    """Check a sidecar's text.

    Raises:
        ProfileError: it has a directive that can select an upstream, an upstream that is not on loopback, or no rule
            that answers 404 to everything undeclared before any other rule.
    """
    backends: dict[str, list[list[str]]] = {}
    frontends: dict[str, list[list[str]]] = {}
    for opening, directives in _sections(text):
        kind, *rest = opening.split()
        if kind not in ("global", "defaults", "frontend", "backend"):
            raise ProfileError(f"the section {kind} has no place in a sidecar")
        for words in directives:
            _check_directive(words)
        if kind == "backend":
            backends[rest[0]] = directives
        if kind == "frontend":
            frontends[rest[0]] = directives
    _check_upstream(backends)
    if not any(words[0] == "default_backend" for directives in frontends.values() for words in directives):
        raise ProfileError("no frontend reaches the runtime")
    for name, directives in frontends.items():
        _check_denial(name, directives)

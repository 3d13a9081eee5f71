"""What the texts of all HAProxy configurations share: quoting, refusals, log lines and templates."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

DRAIN_MARGIN_MS: Final = 30_000
"""What a proxy may take beyond its longest request until it stops, in ms."""

CODE_HEADER: Final = "X-Refusal"
"""Header that carries the code of a refusal inside the proxy; it never leaves it."""
MEASURES: Final[dict[str, str]] = {
    "status": "%ST",
    "code": '"%[var(txn.code)]"',
    "bytes": "%B",
    "ms_request": "%TR",
    "ms_queue": "%Tw",
    "ms_connect": "%Tc",
    "ms_response": "%Tr",
    "ms_total": "%Ta",
    "queued": "%bq",
    "end": '"%ts"',
}
"""Log fields of every proxy: status, code of a refusal, size in bytes, times in ms, and how it ended (S4-144)."""


def table(lines: Iterable[str]) -> str:
    """Return the text of a file of a map or a list; one without lines says so, so that it is no file that got lost."""
    return "".join(f"{line}\n" for line in lines) or "# none\n"


@dataclass(frozen=True)
class Refusal:
    """A local answer of a proxy, in the shape of an OpenAI error."""

    status: int
    """HTTP status."""
    code: str
    """Stable code that clients and tests may rely on."""
    type: str
    """OpenAI's error type."""
    message: str
    """One sentence for people; it names no address, no upstream and nothing of the request."""
    headers: tuple[tuple[str, str], ...] = ()
    """Further response headers."""

    @property
    def body(self) -> str:
        """Return the JSON body."""
        error = {"message": self.message, "type": self.type, "param": None, "code": self.code}
        return json.dumps({"error": error}, separators=(",", ":"))


def quoted(text: str) -> str:
    """Return the text as one HAProxy word in which nothing is special.

    Raises:
        ValueError: the text has a control character, which no quoting can carry.
    """
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValueError("a value for the proxy configuration has a control character")
    return "'" + text.replace("'", "'\\''") + "'"


def literal(text: str) -> str:
    """Return the text as one HAProxy word for a place where a log-format is read, standing for itself."""
    return quoted(text.replace("%", "%%"))


def reply(refusal: Refusal) -> str:
    """Return what follows `return` or `http-error` to answer with a refusal.

    Its code is also in a header, which the frontends take off again for their log.
    """
    pairs = ((CODE_HEADER, refusal.code), *refusal.headers)
    headers = "".join(f" hdr {name} {literal(value)}" for name, value in pairs)
    return f"status {refusal.status} content-type application/json string {quoted(refusal.body)}{headers}"


def log_line(fields: Mapping[str, str]) -> str:
    """Return a log-format that writes one JSON object; the values are log-format expressions in JSON's spelling."""
    pairs = (f"{json.dumps(name)}:{value}" for name, value in fields.items())
    return quoted("{" + ",".join(pairs) + "}")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hearth.compile"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - HAProxy configuration, not HTML; `quoted` escapes what the claim says
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(quoted=quoted, literal=literal, reply=reply, log_line=log_line)
    return environment


def render(template: str, **values: object) -> str:
    """Return the text of a template; a value that the template needs and does not get is an error."""
    return _environment().get_template(template).render(**values)


def template_text(name: str) -> str:
    """Return a file of the templates folder as it is."""
    return files("hearth.compile").joinpath("templates", name).read_text(encoding="utf-8")

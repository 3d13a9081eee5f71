"""Writes what the documents take from elsewhere: python docs/generate.py.

claim-reference.md comes from the claim's own docstrings and rules; between the markers of claim.md stand the example
stacks, as they are, and between those of client-guide.md the errors of the intake. The schema of evidence is published
in schemas/. A test keeps them in step.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hearth.claim import rules
from hearth.claim.base import MEANINGS
from hearth.claim.claim import Claim
from hearth.evidence.schema import evidence_schema_text
from hearth.intake.errors import TABLE

HERE = Path(__file__).parent
REFERENCE = HERE / "claim-reference.md"
GUIDE = HERE / "claim.md"
CLIENT_GUIDE = HERE / "client-guide.md"
EVIDENCE_SCHEMA = HERE / "schemas" / "hearth.evidence.v1.json"

HEAD = """\
# Reference of the claim

Made from the program by `python docs/generate.py`; a test keeps it in step. The guide is [claim.md](claim.md).
Required fields have no default. Numbers such as S4-28 name the requirement behind a field or a rule.
"""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _plain(text: str) -> str:
    """Return words in which angle brackets are no HTML."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


class Reference:
    """The text, shape by shape, in the order in which the claim mentions them."""

    def __init__(self) -> None:
        schema = Claim.model_json_schema(by_alias=True)
        self.shapes: dict[str, Any] = schema.pop("$defs")
        self.claim: dict[str, Any] = schema

    def kind(self, field: dict[str, Any]) -> str:
        """Return what may stand in a field, in words."""
        if "$ref" in field:
            name = field["$ref"].rsplit("/", 1)[1]
            return f"[{name}](#{name.lower()})"
        for several in ("oneOf", "anyOf"):
            if several in field:
                return " or ".join(self.kind(one) for one in field[several] if one.get("type") != "null")
        if "const" in field:
            return f"`{field['const']}`"
        if "enum" in field:
            return ", ".join(f"`{value}`" for value in field["enum"])
        if field.get("pattern") in MEANINGS:
            return _plain(MEANINGS[field["pattern"]])
        if field.get("type") == "array":
            few = f", at least {field['minItems']}" if field.get("minItems") else ""
            return f"list of: {self.kind(field['items'])}{few}"
        if field.get("type") == "object":
            values = field.get("additionalProperties") or next(iter(field["patternProperties"].values()))
            return f"mapping by name of: {self.kind(values)}"
        if field.get("type") == "integer":
            return "whole number" + self.bounds(field)
        return {"boolean": "`true` or `false`", "string": "text"}[field["type"]]

    @staticmethod
    def bounds(field: dict[str, Any]) -> str:
        """Return the bounds of a number."""
        low = field.get("minimum", field["exclusiveMinimum"] + 1 if "exclusiveMinimum" in field else None)
        high = field.get("maximum", field["exclusiveMaximum"] - 1 if "exclusiveMaximum" in field else None)
        if low is not None and high is not None:
            return f", {low:,} to {high:,}"
        return f", at least {low:,}" if low is not None else f", at most {high:,}" if high is not None else ""

    @staticmethod
    def default(name: str, field: dict[str, Any], shape: dict[str, Any]) -> str:
        """Return a field's default as it would be written."""
        if name in shape.get("required", ()):
            return "required"
        value = field.get("default")
        if isinstance(value, bool):
            return f"`{str(value).lower()}`"
        if isinstance(value, dict):
            return "its own defaults"
        return "–" if value in (None, [], {}) else f"`{value}`"

    def table(self, shape: dict[str, Any], prefix: str = "") -> Iterator[str]:
        """Yield the table of a shape's fields."""
        yield "| field | value | default | meaning |"
        yield "|---|---|---|---|"
        for name, field in shape["properties"].items():
            cells = (self.kind(field), self.default(name, field, shape), field.get("description", ""))
            yield f"| `{prefix}{name}` | " + " | ".join(map(_cell, cells)) + " |"

    def mentioned(self, value: Any) -> Iterator[str]:
        """Yield the names of the shapes that a piece of the schema mentions, in order."""
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"].rsplit("/", 1)[1]
            for item in value.values():
                yield from self.mentioned(item)
        elif isinstance(value, list):
            for item in value:
                yield from self.mentioned(item)

    def ordered(self) -> list[str]:
        """Return every shape in the order in which a reader meets it."""
        found: list[str] = []

        def visit(value: Any) -> None:
            for name in self.mentioned(value):
                if name not in found:
                    found.append(name)
                    visit(self.shapes[name])

        visit(self.claim)
        return found

    def lines(self) -> Iterator[str]:
        """Yield the whole text."""
        yield HEAD
        yield "## Keys\n"
        yield from self.table(self.claim, "hearth:")
        yield "\n## Shapes"
        for name in self.ordered():
            shape = self.shapes[name]
            yield f"\n### {name}\n"
            yield f"{_cell(shape.get('description', ''))}\n"
            yield from self.table(shape)
        yield "\n## Rules\n"
        yield "What one part of a claim says about another. `hearth check` reports every break at once.\n"
        last = ""
        for rule in rules.RULES:
            module = sys.modules[rule.__module__]
            if module.__name__ != last:
                last = module.__name__
                yield f"\n**{_cell(module.__doc__ or '').split('). ')[0].rstrip('.')}**\n"
            yield f"- {_cell(rule.__doc__ or '')}"


def reference() -> str:
    """Return the text of claim-reference.md."""
    return "\n".join(Reference().lines()) + "\n"


def guide() -> str:
    """Return the text of claim.md with the example stacks as they are now."""

    def example(match: re.Match[str]) -> str:
        stack = (HERE.parent / match[1]).read_text(encoding="utf-8")
        return f"<!-- begin {match[1]} -->\n```yaml\n{stack}```\n<!-- end -->"

    text = GUIDE.read_text(encoding="utf-8")
    return re.sub(r"<!-- begin (stacks/\S+) -->\n.*?<!-- end -->", example, text, flags=re.DOTALL)


def client_guide() -> str:
    """Return the text of client-guide.md with the table of errors as the intake has it."""
    lines = ["| status | code | means | what to do |", "|---|---|---|---|"]
    lines += [f"| {row.status} | `{row.code}` | {_cell(row.message)} | {_cell(row.remedy)} |" for row in TABLE]
    table = "\n".join(lines)
    text = CLIENT_GUIDE.read_text(encoding="utf-8")
    begin, end = "<!-- begin errors -->", "<!-- end -->"
    return re.sub(f"{begin}\n.*?{end}", lambda _: f"{begin}\n{table}\n{end}", text, flags=re.DOTALL)


if __name__ == "__main__":
    REFERENCE.write_text(reference(), encoding="utf-8")
    GUIDE.write_text(guide(), encoding="utf-8")
    CLIENT_GUIDE.write_text(client_guide(), encoding="utf-8")
    EVIDENCE_SCHEMA.write_text(evidence_schema_text(), encoding="utf-8")

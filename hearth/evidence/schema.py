"""The JSON Schema of evidence, for programs that write or read it and are not Hearth."""

import json
from typing import Any, Final

from hearth.evidence.document import Evidence

SCHEMA_ID: Final = "urn:hearth:evidence:v1"
"""Name of the schema; it is for ever, as the document's version is."""


def evidence_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a document of evidence.

    It says the shape alone. What it cannot say: the signature, that the times exist, that a case has a reason exactly
    when it did not pass, and that a network namespace has either an inode or the UID of a Pod.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        **Evidence.model_json_schema(by_alias=True),
    }


def evidence_schema_text() -> str:
    """Return the schema as it is published."""
    return json.dumps(evidence_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"

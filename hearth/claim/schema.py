"""The JSON Schema of a stack file."""

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from hearth.claim.claim import Claim

_NOTE: Final = "Read by Pulumi alone."


def stack_file_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `stacks/Pulumi.<stack>.yaml`.

    It knows shapes, bounds and descriptions. What one part of a claim says about another is only known to
    `hearth check`.
    """
    claim = Claim.model_json_schema(by_alias=True)
    definitions = claim.pop("$defs")
    keys = {f"hearth:{name}": field for name, field in claim["properties"].items()}
    return {
        "$schema": GenerateJsonSchema.schema_dialect,
        "title": "Stack file of Hearth",
        "description": "One environment: stacks/Pulumi.<stack>.yaml.",
        "type": "object",
        "required": ["config"],
        "additionalProperties": False,
        "properties": {
            "config": {
                "description": claim["description"],
                "type": "object",
                "required": [f"hearth:{name}" for name in claim["required"]],
                "properties": keys,
                "patternProperties": {"^(?!hearth:)[^:]+:": {"description": "Another program's configuration."}},
                "additionalProperties": False,
            },
            "secretsprovider": {"description": _NOTE, "type": "string"},
            "encryptedkey": {"description": _NOTE, "type": "string"},
            "encryptionsalt": {"description": _NOTE, "type": "string"},
            "environment": {"description": _NOTE},
        },
        "$defs": definitions,
    }

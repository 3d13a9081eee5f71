"""The kinds of values that the schemas of all operations are made of."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

MOST_CHOICES: Final = 8
"""Answers to one request: `n`, times the prompts of a completion."""
MOST_TOOLS: Final = 128
"""Tools of one request, as in the OpenAI API."""
MOST_MESSAGES: Final = 4_096
"""Messages, or items of the responses API, of one request."""
MOST_PARTS: Final = 512
"""Parts of one message."""
MOST_STOPS: Final = 16
"""Stop sequences of one request."""
MOST_LOGIT_BIASES: Final = 1_024
"""Tokens with a bias in one request."""
MOST_TOP_LOGPROBS: Final = 20
"""Alternatives for each token, as in the OpenAI API: a model server has died of a million."""
MOST_USER_CHARACTERS: Final = 128
"""Characters of a person's name."""


class Shape(BaseModel):
    """An object of a request: only the fields that are declared, each of its own type and no other."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, protected_namespaces=())


Dropped = Annotated[JsonValue, Field(exclude=True)]
"""A field that clients send unasked and that means nothing here: accepted, bounded as JSON is, and left out."""

Text = str
"""Text of any length; the body's own bound holds."""
Word = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Long = Annotated[str, StringConstraints(max_length=65_536)]
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:|=+/-]{1,512}$")]
"""An identifier that a model server gave out: of a call, an item, an answer."""
FunctionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""Name of a tool. LiteLLM writes it into a table, so it is held to what the OpenAI API permits."""
ParticipantName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
User = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._@:|+=/-]{1,128}$")]
"""Name of a person, for budgets; it becomes a row of the gateway's database."""
ModelName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*(?:/[A-Za-z0-9][A-Za-z0-9._:-]*)?$", max_length=255)
]
"""One public name; never a list of names."""

Tokens = Annotated[int, Field(ge=1, le=2**31 - 1)]
Count = Annotated[int, Field(ge=1, le=MOST_CHOICES)]
Seed = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
Penalty = Annotated[float, Field(ge=-2, le=2)]
Temperature = Annotated[float, Field(ge=0, le=2)]
Share = Annotated[float, Field(ge=0, le=1)]
TopLogprobs = Annotated[int, Field(ge=0, le=MOST_TOP_LOGPROBS)]
StopText = Annotated[str, StringConstraints(min_length=1, max_length=512)]
Stop = StopText | Annotated[list[StopText], Field(max_length=MOST_STOPS)]
LogitBias = Annotated[
    dict[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,7}$")], Annotated[float, Field(ge=-100, le=100)]],
    Field(max_length=MOST_LOGIT_BIASES),
]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Verbosity = Literal["low", "medium", "high"]
Detail = Literal["auto", "low", "high", "original"]

Base64 = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]+={0,2}$")]
ImageData = Annotated[str, StringConstraints(pattern=r"^data:image/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$")]
"""An image inside the request. An address is never accepted: the gateway fetches nothing for a caller."""
FileData = Annotated[
    str, StringConstraints(pattern=r"^data:[a-z]{1,32}/[a-z0-9.+-]{1,64};base64,[A-Za-z0-9+/]+={0,2}$")
]
"""A file inside the request; an address or an identifier is never accepted."""


def _references_stay_inside(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Refuse a JSON Schema that names another document: whoever validates by it would fetch that one.

    Raises:
        ValueError: `$ref` and its like name anything but a part of the schema itself.
    """
    open_values: list[Any] = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, dict):
            for key in ("$ref", "$dynamicRef", "$recursiveRef"):
                if isinstance(one.get(key), str) and not one[key].startswith("#"):
                    raise ValueError(f"{key} must begin with #")
            open_values += one.values()
        elif isinstance(one, list):
            open_values += one
    return value


JsonSchema = Annotated[dict[str, JsonValue], AfterValidator(_references_stay_inside)]
"""A JSON Schema, free in form; depth and size are the body's."""


class Function(Shape):
    """A function that the model may ask the client to call."""

    name: FunctionName
    description: Long | None = None
    parameters: JsonSchema | None = None
    strict: bool | None = None
    type: Dropped = None


class JsonSchemaFormat(Shape):
    """The JSON Schema that an answer has to follow."""

    name: FunctionName
    description: Long | None = None
    schema_: Annotated[JsonSchema | None, Field(alias="schema")] = None
    strict: bool | None = None


class RefusalPart(Shape):
    """A model's refusal, given back to it."""

    type: Literal["refusal"]
    refusal: Text


class StreamOptions(Shape):
    """What a stream carries beside the answer."""

    include_usage: bool | None = None
    include_obfuscation: Dropped = None

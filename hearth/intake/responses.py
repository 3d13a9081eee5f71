"""The body of POST /v1/responses, as far as it needs no state on the server.

What names an earlier answer, a conversation, a stored prompt or a tool that somebody else runs is refused: there is no
store behind the gateway, and LiteLLM would look for one.
"""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from hearth.intake.fields import (
    MOST_MESSAGES,
    MOST_PARTS,
    MOST_TOOLS,
    Detail,
    Dropped,
    Effort,
    FileData,
    FunctionName,
    Identifier,
    ImageData,
    JsonSchema,
    Long,
    ModelName,
    RefusalPart,
    Shape,
    Share,
    Temperature,
    Text,
    Tokens,
    TopLogprobs,
    User,
    Verbosity,
    Word,
)

Status = Literal["in_progress", "completed", "incomplete"]


class InputText(Shape):
    """A text of the caller."""

    type: Literal["input_text"]
    text: Text


class InputImage(Shape):
    """An image, inside the request."""

    type: Literal["input_image"]
    image_url: ImageData
    detail: Detail | None = None


class InputFile(Shape):
    """A file, inside the request."""

    type: Literal["input_file"]
    file_data: FileData
    filename: Word | None = None


class OutputText(Shape):
    """A text of the model, given back to it."""

    type: Literal["output_text"]
    text: Text
    annotations: Dropped = None
    logprobs: Dropped = None


Part = Annotated[InputText | InputImage | InputFile | OutputText | RefusalPart, Field(discriminator="type")]


class Message(Shape):
    """What somebody said."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: Text | Annotated[list[Part], Field(min_length=1, max_length=MOST_PARTS)]
    id: Identifier | None = None
    status: Status | None = None
    phase: Dropped = None


class FunctionCall(Shape):
    """A call that the model asked for, given back to it."""

    type: Literal["function_call"]
    call_id: Identifier
    name: FunctionName
    arguments: Text
    id: Identifier | None = None
    status: Status | None = None
    caller: Dropped = None
    namespace: Dropped = None
    provider_specific_fields: Dropped = None


OutputPart = Annotated[InputText | InputImage | InputFile, Field(discriminator="type")]


class FunctionCallOutput(Shape):
    """What a function returned."""

    type: Literal["function_call_output"]
    call_id: Identifier
    output: Text | Annotated[list[OutputPart], Field(min_length=1, max_length=MOST_PARTS)]
    id: Identifier | None = None
    status: Status | None = None
    caller: Dropped = None


class SummaryText(Shape):
    """A piece of a summary."""

    type: Literal["summary_text"]
    text: Text


class ReasoningText(Shape):
    """A piece of reasoning."""

    type: Literal["reasoning_text"]
    text: Text


class ReasoningItem(Shape):
    """The model's reasoning, given back to it."""

    type: Literal["reasoning"]
    id: Identifier | None = None
    summary: Annotated[list[SummaryText], Field(max_length=MOST_PARTS)]
    content: Annotated[list[ReasoningText], Field(max_length=MOST_PARTS)] | None = None
    encrypted_content: Text | None = None
    status: Status | None = None


def _kind_of_item(value: object) -> str | None:
    kind = value.get("type", "message") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) else None


Item = Annotated[
    Annotated[Message, Tag("message")]
    | Annotated[FunctionCall, Tag("function_call")]
    | Annotated[FunctionCallOutput, Tag("function_call_output")]
    | Annotated[ReasoningItem, Tag("reasoning")],
    Discriminator(_kind_of_item),
]


class FunctionTool(Shape):
    """A function that the model may ask the client to call."""

    type: Literal["function"]
    name: FunctionName
    description: Long | None = None
    parameters: JsonSchema | None = None
    strict: bool | None = None


class ChosenFunction(Shape):
    """The one function that the model has to call."""

    type: Literal["function"]
    name: FunctionName


def _kind_of_choice(value: object) -> str:
    return "word" if isinstance(value, str) else "function"


ToolChoice = Annotated[
    Annotated[Literal["none", "auto", "required"], Tag("word")] | Annotated[ChosenFunction, Tag("function")],
    Discriminator(_kind_of_choice),
]


class PlainFormat(Shape):
    """Plain text, or JSON of any shape."""

    type: Literal["text", "json_object"]


class SchemaFormat(Shape):
    """JSON that follows a schema."""

    type: Literal["json_schema"]
    name: FunctionName
    schema_: Annotated[JsonSchema, Field(alias="schema")]
    description: Long | None = None
    strict: bool | None = None


class TextSettings(Shape):
    """The form of the answer's text."""

    format: Annotated[PlainFormat | SchemaFormat, Field(discriminator="type")] | None = None
    verbosity: Verbosity | None = None


class Reasoning(Shape):
    """How much the model thinks, and what of it is shown."""

    effort: Effort | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None
    generate_summary: Dropped = None


class StreamOptions(Shape):
    """Means nothing here."""

    include_obfuscation: Dropped = None


class ResponsesRequest(Shape):
    """The body of a response."""

    model: ModelName
    input: Text | Annotated[list[Item], Field(min_length=1, max_length=MOST_MESSAGES)]
    include: list[Literal["message.output_text.logprobs", "reasoning.encrypted_content"]] | None = None
    instructions: Text | None = None
    max_output_tokens: Tokens | None = None
    parallel_tool_calls: bool | None = None
    reasoning: Reasoning | None = None
    stream: bool | None = None
    temperature: Temperature | None = None
    text: TextSettings | None = None
    tool_choice: ToolChoice | None = None
    tools: Annotated[list[FunctionTool], Field(max_length=MOST_TOOLS)] | None = None
    top_logprobs: TopLogprobs | None = None
    top_p: Share | None = None
    truncation: Literal["auto", "disabled"] | None = None
    user: User | None = None

    background: Annotated[Literal[False] | None, Field(exclude=True)] = None
    metadata: Dropped = None
    prompt_cache_key: Dropped = None
    prompt_cache_options: Dropped = None
    prompt_cache_retention: Dropped = None
    safety_identifier: Dropped = None
    service_tier: Dropped = None
    store: Dropped = None
    stream_options: Annotated[StreamOptions | None, Field(exclude=True)] = None

"""The body of POST /v1/chat/completions, field by field as the OpenAI API publishes it."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from hearth.intake.fields import (
    MOST_MESSAGES,
    MOST_PARTS,
    MOST_TOOLS,
    Base64,
    Count,
    Detail,
    Dropped,
    Effort,
    FileData,
    Function,
    FunctionName,
    Identifier,
    ImageData,
    JsonSchemaFormat,
    LogitBias,
    ModelName,
    ParticipantName,
    Penalty,
    RefusalPart,
    Seed,
    Shape,
    Share,
    Stop,
    StreamOptions,
    Temperature,
    Text,
    Tokens,
    TopLogprobs,
    User,
    Verbosity,
    Word,
)


class TextPart(Shape):
    """A text."""

    type: Literal["text"]
    text: Text
    cache_control: Dropped = None
    prompt_cache_breakpoint: Dropped = None


class ImageAddress(Shape):
    """An image, inside the request."""

    url: ImageData
    detail: Detail | None = None


class ImagePart(Shape):
    """An image."""

    type: Literal["image_url"]
    image_url: ImageAddress
    cache_control: Dropped = None


class Audio(Shape):
    """A sound, inside the request."""

    data: Base64
    format: Literal["wav", "mp3"]


class AudioPart(Shape):
    """A sound."""

    type: Literal["input_audio"]
    input_audio: Audio


class File(Shape):
    """A file, inside the request."""

    file_data: FileData
    filename: Word | None = None


class FilePart(Shape):
    """A file."""

    type: Literal["file"]
    file: File


TextContent = Text | Annotated[list[TextPart], Field(min_length=1, max_length=MOST_PARTS)]
UserPart = Annotated[TextPart | ImagePart | AudioPart | FilePart, Field(discriminator="type")]
AssistantPart = Annotated[TextPart | RefusalPart, Field(discriminator="type")]


class SystemMessage(Shape):
    """An instruction by the application."""

    role: Literal["system", "developer"]
    content: TextContent
    name: ParticipantName | None = None


class UserMessage(Shape):
    """What a person says."""

    role: Literal["user"]
    content: Text | Annotated[list[UserPart], Field(min_length=1, max_length=MOST_PARTS)]
    name: ParticipantName | None = None


class CalledFunction(Shape):
    """A function that the model asked for."""

    name: FunctionName
    arguments: Text


class ToolCall(Shape):
    """A call that the model asked for, given back to it."""

    id: Identifier
    type: Literal["function"] = "function"
    function: CalledFunction
    index: Dropped = None
    provider_specific_fields: Dropped = None


class AssistantMessage(Shape):
    """What the model said, as an answer carries it; the fields that only answers have are left out."""

    role: Literal["assistant"]
    content: Text | Annotated[list[AssistantPart], Field(max_length=MOST_PARTS)] | None = None
    name: ParticipantName | None = None
    refusal: Text | None = None
    reasoning_content: Text | None = None
    tool_calls: Annotated[list[ToolCall], Field(max_length=MOST_TOOLS)] | None = None
    annotations: Dropped = None
    audio: Dropped = None
    function_call: Dropped = None
    images: Dropped = None
    provider_specific_fields: Dropped = None
    reasoning: Dropped = None
    thinking_blocks: Dropped = None


class ToolMessage(Shape):
    """What a function returned."""

    role: Literal["tool"]
    content: TextContent
    tool_call_id: Identifier
    name: Dropped = None


Message = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage,
    Field(discriminator="role"),
]


class FunctionTool(Shape):
    """A function. Tools that somebody else would run (`mcp`, `web_search`, …) are refused."""

    type: Literal["function"]
    function: Function


class NamedFunction(Shape):
    """The name of a function."""

    name: FunctionName


class ChosenTool(Shape):
    """The one function that the model has to call."""

    type: Literal["function"]
    function: NamedFunction


class TextFormat(Shape):
    """Plain text, or JSON of any shape."""

    type: Literal["text", "json_object"]


class SchemaFormat(Shape):
    """JSON that follows a schema."""

    type: Literal["json_schema"]
    json_schema: JsonSchemaFormat


ResponseFormat = Annotated[TextFormat | SchemaFormat, Field(discriminator="type")]


def _kind_of_choice(value: object) -> str:
    return "word" if isinstance(value, str) else "function"


ToolChoice = Annotated[
    Annotated[Literal["none", "auto", "required"], Tag("word")] | Annotated[ChosenTool, Tag("function")],
    Discriminator(_kind_of_choice),
]


class ChatRequest(Shape):
    """The body of a chat completion."""

    model: ModelName
    messages: Annotated[list[Message], Field(min_length=1, max_length=MOST_MESSAGES)]
    frequency_penalty: Penalty | None = None
    logit_bias: LogitBias | None = None
    logprobs: bool | None = None
    max_completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None
    n: Count | None = None
    parallel_tool_calls: bool | None = None
    presence_penalty: Penalty | None = None
    reasoning_effort: Effort | None = None
    response_format: ResponseFormat | None = None
    seed: Seed | None = None
    stop: Stop | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Temperature | None = None
    tool_choice: ToolChoice | None = None
    tools: Annotated[list[FunctionTool], Field(max_length=MOST_TOOLS)] | None = None
    top_logprobs: TopLogprobs | None = None
    top_p: Share | None = None
    user: User | None = None
    verbosity: Verbosity | None = None

    metadata: Dropped = None
    modalities: Annotated[list[Literal["text"]] | None, Field(exclude=True)] = None
    prompt_cache_key: Dropped = None
    prompt_cache_options: Dropped = None
    prompt_cache_retention: Dropped = None
    safety_identifier: Dropped = None
    service_tier: Dropped = None
    store: Dropped = None

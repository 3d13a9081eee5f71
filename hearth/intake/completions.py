"""The bodies of POST /v1/completions and POST /v1/embeddings, as the OpenAI API publishes them."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from hearth.intake.fields import (
    MOST_CHOICES,
    Count,
    Dropped,
    LogitBias,
    ModelName,
    Penalty,
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
)

MOST_INPUTS = 2_048
"""Texts of one embedding request, as in the OpenAI API."""


def _no_tokens(value: object) -> object:
    """Refuse arrays of token numbers: which tokenizer made them is not said, and no model here need share it.

    Raises:
        ValueError: the value holds numbers.
    """
    if isinstance(value, list) and value and isinstance(value[0], int | list):
        raise ValueError(
            "arrays of token numbers are not accepted; send texts (LangChain: check_embedding_ctx_length=False)"
        )
    return value


NonEmpty = Annotated[str, StringConstraints(min_length=1)]


class CompletionRequest(Shape):
    """The body of a completion."""

    model: ModelName
    prompt: Annotated[
        Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_CHOICES)], BeforeValidator(_no_tokens)
    ]
    echo: bool | None = None
    frequency_penalty: Penalty | None = None
    logit_bias: LogitBias | None = None
    logprobs: TopLogprobs | None = None
    max_tokens: Tokens | None = None
    n: Count | None = None
    presence_penalty: Penalty | None = None
    seed: Seed | None = None
    stop: Stop | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    suffix: Text | None = None
    temperature: Temperature | None = None
    top_p: Share | None = None
    user: User | None = None

    best_of: Annotated[Literal[1] | None, Field(exclude=True)] = None
    metadata: Dropped = None
    store: Dropped = None


class EmbeddingRequest(Shape):
    """The body of an embedding request."""

    model: ModelName
    input: Annotated[
        NonEmpty | Annotated[list[NonEmpty], Field(min_length=1, max_length=MOST_INPUTS)], BeforeValidator(_no_tokens)
    ]
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    encoding_format: Literal["float", "base64"] | None = None
    user: User | None = None

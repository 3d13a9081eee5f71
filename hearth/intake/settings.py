"""What the intake knows of the claim: one JSON file, compiled beside LiteLLM's configuration."""

from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hearth.intake.engines import ENGINE_FIELDS, Engine
from hearth.intake.names import NEVER

Operation = Literal["chat", "completion", "embedding", "responses"]
"""An operation by the name that the claim gives it."""


class Attempt(BaseModel):
    """What one deployment charges."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    context_tokens: Annotated[int, Field(alias="contextTokens", ge=1)]
    """Most tokens of a prompt and its answer together."""
    input_micros: Annotated[int, Field(alias="inputMicrosPerMillionTokens", ge=0)]
    """Price of a million prompt tokens in micro-units."""
    output_micros: Annotated[int, Field(alias="outputMicrosPerMillionTokens", ge=0)]
    """Price of a million completion tokens in micro-units."""


class Model(BaseModel):
    """A public name, and what a request for it may say."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    operations: Annotated[frozenset[Operation], Field(min_length=1, strict=False)]
    """What every one of its deployments answers."""
    context_tokens: Annotated[int, Field(alias="contextTokens", ge=1)]
    """Most tokens of an answer: the smallest context of its deployments."""
    default_max_tokens: Annotated[int, Field(alias="defaultMaxTokens", ge=1)]
    """Most tokens of an answer to a request that names none."""
    deadline_ms: Annotated[int, Field(alias="deadlineMs", ge=1)]
    """How long a request may wait for its answer, over all of its deployments together, in ms."""
    engines: Annotated[tuple[Engine | None, ...], Field(min_length=1, strict=False)]
    """What serves each of its deployments; none where that is somebody else's secret."""
    extra_fields: Annotated[frozenset[str], Field(alias="extraFields", strict=False)] = frozenset()
    """Further fields that the claim allows at every one of its deployments."""
    tools: bool = True
    """Whether every one of its deployments takes tools."""
    embedding_space: Annotated[str | None, Field(alias="embeddingSpace")] = None
    """The space of its vectors; no deployment of another one is asked (S4-127)."""
    max_cost_micros: Annotated[int | None, Field(alias="maxCostMicros", ge=0)] = None
    """Highest worst-case price of one request over all attempts, in micro-units; none without a bound (S4-125)."""
    attempts: Annotated[tuple[Attempt, ...], Field(strict=False)] = ()
    """Its deployments, where there is such a bound."""

    @cached_property
    def fields(self) -> frozenset[str]:
        """Return the fields beyond the OpenAI API that every one of its deployments takes."""
        documented = frozenset.intersection(
            *(ENGINE_FIELDS[engine] if engine else frozenset() for engine in self.engines)
        )
        return documented | (self.extra_fields - NEVER)


class Settings(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    version: Literal[1]
    max_request_bytes: Annotated[int, Field(alias="maxRequestBytes", ge=1)]
    """Largest body in bytes."""
    longest_answer_seconds: Annotated[int, Field(alias="longestAnswerSeconds", ge=1)]
    """How long an answer may take: what the process waits for when it ends."""
    models: dict[str, Model]
    """The public names."""

    @cached_property
    def fields(self) -> frozenset[str]:
        """Return every field beyond the OpenAI API that some model takes."""
        return frozenset[str]().union(*ENGINE_FIELDS.values(), *(model.fields for model in self.models.values()))


def load(path: Path) -> Settings:
    """Return the settings in a file.

    Raises:
        OSError: the file cannot be read.
        pydantic.ValidationError: it is not what the compiler writes.
    """
    return Settings.model_validate_json(path.read_bytes())

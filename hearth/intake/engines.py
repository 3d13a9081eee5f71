"""The sampling fields that model servers document beyond the OpenAI API, by engine.

A field is here if it shapes the answer of its own request and nothing else: none bounds the answer (`n_predict`), picks
a slot, an adapter or a priority, names a file or a template, or is an order to LiteLLM. They travel in `extra_body`,
which LiteLLM hands on and does not read; a test holds each to the names that LiteLLM's source has.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter

from hearth.intake.fields import MOST_TOP_LOGPROBS, Effort, JsonSchema, Shape

Engine = Literal["ollama", "llamaCpp", "vllm"]
"""What serves a model; anything else is no engine, and has no fields beyond the OpenAI API."""

_Factor = Annotated[float, Field(ge=-100, le=100)]
_Positive = Annotated[float, Field(ge=0, le=100)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Window = Annotated[int, Field(ge=-1, le=1_048_576)]
_TokenNumbers = Annotated[list[Annotated[int, Field(ge=0, le=2**31 - 1)]], Field(max_length=1_024)]
_Words = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=256)]], Field(max_length=256)]
_Grammar = Annotated[str, StringConstraints(max_length=65_536)]
_Pattern = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
_TopK = Annotated[int, Field(ge=-1, le=1_048_576)]


def _no_template(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Refuse arguments that are no switches of a template but replace it, or what it is given.

    Raises:
        ValueError: one of them is there.
    """
    for name in ("chat_template", "tokenize", "messages", "conversation", "tools", "documents", "template"):
        if name in value:
            raise ValueError(f"{name} is not accepted here")
    return value


_TemplateArguments = Annotated[
    dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")],
        bool | int | float | Annotated[str, StringConstraints(max_length=1_024)] | None,
    ],
    Field(max_length=32),
    AfterValidator(_no_template),
]


class _Reasoning(Shape):
    """How much the model thinks, as Ollama takes it."""

    effort: Effort | None = None


class _StructuredOutputs(Shape):
    """The form of the answer, as vLLM takes it."""

    json_: Annotated[JsonSchema | None, Field(alias="json")] = None
    regex: _Pattern | None = None
    choice: _Words | None = None
    grammar: _Grammar | None = None


_LLAMA_CPP: Final[dict[str, object]] = {
    "chat_template_kwargs": _TemplateArguments,
    "dry_allowed_length": _Window,
    "dry_base": _Positive,
    "dry_multiplier": _Positive,
    "dry_penalty_last_n": _Window,
    "dry_sequence_breakers": _Words,
    "dynatemp_exponent": _Positive,
    "dynatemp_range": _Positive,
    "grammar": _Grammar,
    "ignore_eos": bool,
    "json_schema": JsonSchema,
    "min_keep": Annotated[int, Field(ge=0, le=1_024)],
    "min_p": _Share,
    "mirostat": Literal[0, 1, 2],
    "mirostat_eta": _Positive,
    "mirostat_tau": _Positive,
    "n_probs": Annotated[int, Field(ge=0, le=MOST_TOP_LOGPROBS)],
    "post_sampling_probs": bool,
    "reasoning_format": Literal["none", "auto", "deepseek", "deepseek-legacy"],
    "repeat_last_n": _Window,
    "repeat_penalty": _Factor,
    "samplers": _Words,
    "timings_per_token": bool,
    "top_k": _TopK,
    "top_n_sigma": _Factor,
    "typical_p": _Share,
    "xtc_probability": _Share,
    "xtc_threshold": _Share,
}
_OLLAMA: Final[dict[str, object]] = {"reasoning": _Reasoning}
_VLLM: Final[dict[str, object]] = {
    "add_generation_prompt": bool,
    "add_special_tokens": bool,
    "allowed_token_ids": _TokenNumbers,
    "bad_words": _Words,
    "cache_salt": Annotated[str, StringConstraints(min_length=1, max_length=256)],
    "chat_template_kwargs": _TemplateArguments,
    "continue_final_message": bool,
    "guided_choice": _Words,
    "guided_grammar": _Grammar,
    "guided_json": JsonSchema,
    "guided_regex": _Pattern,
    "ignore_eos": bool,
    "include_reasoning": bool,
    "include_stop_str_in_output": bool,
    "length_penalty": _Factor,
    "min_p": _Share,
    "min_tokens": Annotated[int, Field(ge=0, le=2**31 - 1)],
    "prompt_logprobs": Annotated[int, Field(ge=0, le=MOST_TOP_LOGPROBS)],
    "repetition_penalty": _Positive,
    "return_token_ids": bool,
    "return_tokens_as_token_ids": bool,
    "skip_special_tokens": bool,
    "spaces_between_special_tokens": bool,
    "stop_token_ids": _TokenNumbers,
    "structured_outputs": _StructuredOutputs,
    "thinking_token_budget": Annotated[int, Field(ge=0, le=2**31 - 1)],
    "top_k": _TopK,
    "truncate_prompt_tokens": _Window,
}
ENGINE_FIELDS: Final[dict[Engine, frozenset[str]]] = {
    "ollama": frozenset(_OLLAMA),
    "llamaCpp": frozenset(_LLAMA_CPP),
    "vllm": frozenset(_VLLM),
}
"""The fields of each engine."""


def _validator(kind: Any) -> TypeAdapter[object]:
    # A shape has its own configuration; for everything else it is given here.
    own = isinstance(kind, type) and issubclass(kind, Shape)
    return TypeAdapter(kind, config=None if own else ConfigDict(strict=True))


FIELD_VALIDATORS: Final[dict[str, TypeAdapter[object]]] = {
    name: _validator(kind) for name, kind in {**_LLAMA_CPP, **_VLLM, **_OLLAMA}.items()
}
"""How the value of an engine's field is judged. Engines that share a name share its meaning."""

"""Decides over a body: canonical JSON of the operation's schema, or a refusal. Pure; no request is known here."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import to_json

from hearth.intake.chat import ChatRequest
from hearth.intake.completions import CompletionRequest, EmbeddingRequest
from hearth.intake.cost import worst_case_micros
from hearth.intake.engines import FIELD_VALIDATORS
from hearth.intake.errors import (
    COST_ABOVE_BOUND,
    INVALID_JSON,
    INVALID_PARAMETER,
    MODEL_NOT_FOUND,
    OPERATION_NOT_OFFERED,
    UNKNOWN_PARAMETER,
    Refusal,
    RefusedError,
)
from hearth.intake.fields import MOST_CHOICES, MOST_USER_CHARACTERS, Shape, StreamOptions, User
from hearth.intake.responses import ResponsesRequest
from hearth.intake.settings import Model, Operation, Settings
from hearth.intake.strict_json import InvalidJsonError, parse

SCHEMAS: Final[dict[Operation, type[Shape]]] = {
    "chat": ChatRequest,
    "completion": CompletionRequest,
    "embedding": EmbeddingRequest,
    "responses": ResponsesRequest,
}
"""The schema of each operation."""
MOST_EXTRA_BYTES: Final = 65_536
"""Size of the value of one field that the claim allows with `extraFields`, in bytes of JSON."""

_MOST_PROBLEMS: Final = 8
_LIMIT_FIELD: Final[dict[Operation, str]] = {
    "chat": "max_tokens",
    "completion": "max_tokens",
    "responses": "max_output_tokens",
}
"""The one spelling under which the bound of an answer goes on."""
_SPELLINGS: Final[tuple[str, ...]] = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_REMEDIES: Final = {
    "functions": "use tools",
    "function_call": "use tool_choice",
    "web_search_options": "the gateway runs no tools for a caller",
    "previous_response_id": "answers are not stored; send the conversation",
    "conversation": "answers are not stored; send the conversation",
    "prompt": "prompts are not stored; send input and instructions",
    "n_predict": "use max_tokens",
    "num_predict": "use max_tokens",
    "max_new_tokens": "use max_tokens",
    "extra_body": "send its fields beside the others",
}
_MEANINGS: Final = {
    "data:image": "must be a data: URL of a PNG, JPEG, WebP or GIF image in base64; addresses are not fetched",
    "data:[a-z]": "must be a data: URL in base64; addresses and identifiers are not fetched",
}
_USER: Final[TypeAdapter[str]] = TypeAdapter(User)
_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)


class ModelRefusedError(RefusedError):
    """A refusal that tells something of a model: only who may use that one may read it.

    Attributes:
        model: the name as the request has it.
    """

    def __init__(
        self, model: str, refusal: Refusal, details: tuple[str, ...] = (), *, param: str | None = None
    ) -> None:
        super().__init__(refusal, details, param=param)
        self.model = model


@dataclass(frozen=True)
class Admitted:
    """A body that LiteLLM may see."""

    body: bytes
    """Canonical JSON of the schema."""
    model: str
    """The public name that it asks for."""
    stream: bool
    """Whether the answer is a stream of events."""
    embedding_space: str | None
    """The space that vectors are asked for in; none where none is declared, or none are asked for."""
    deadline_seconds: float
    """How long it may wait for its answer, over all deployments of the model."""


def admit(settings: Settings, operation: Operation, text: bytes, *, header_user: str | None = None) -> Admitted:
    """Return the body as LiteLLM may see it.

    Whatever can be said without knowing the model is said first, the same for every model that there is or is not.

    Args:
        settings: what the claim permits.
        operation: what is asked for.
        text: the body as it came.
        header_user: the person that the header names.

    Raises:
        ModelRefusedError: the model, or what it permits, is the reason.
        RefusedError: anything else is.
    """
    try:
        body = parse(text)
    except InvalidJsonError as error:
        raise RefusedError(INVALID_JSON, [str(error)]) from None
    if not isinstance(body, dict):
        raise RefusedError(INVALID_JSON)
    schema = SCHEMAS[operation]
    names = _names(schema)
    unknown = [name for name in body if name not in names and name not in settings.fields]
    if unknown:
        raise _unknown(unknown)
    extra = {name: body.pop(name) for name in list(body) if name not in names}
    # The API takes a null of an optional field for an absent one, and some clients write them all.
    request = _validated(schema, {name: value for name, value in body.items() if value is not None})
    user = _user(getattr(request, "user", None), header_user)
    limits = _limits(request)

    name = str(getattr(request, "model"))  # noqa: B009 - every schema has the field, their base has not
    model = settings.models.get(name)
    if model is None:
        raise ModelRefusedError(name, MODEL_NOT_FOUND, param="model")
    if operation not in model.operations:
        raise ModelRefusedError(name, OPERATION_NOT_OFFERED, param="model")
    _refuse_tools(name, model, request)
    limit = _limit(name, model, limits)
    extra_body = _extra_body(name, model, extra)
    if model.max_cost_micros is not None and worst_case_micros(model, request, limit) > model.max_cost_micros:
        raise ModelRefusedError(name, COST_ABOVE_BOUND)
    return Admitted(
        body=_canonical(request, operation, user, limit, extra_body),
        model=name,
        stream=bool(getattr(request, "stream", False)),
        embedding_space=model.embedding_space if operation == "embedding" else None,
        deadline_seconds=model.deadline_ms / 1_000,
    )


def _names(schema: type[Shape]) -> dict[str, Any]:
    return schema.model_fields  # no top-level field has an alias; a test holds that


def _unknown(names: list[str], model: str | None = None) -> RefusedError:
    shown = names[:_MOST_PROBLEMS]
    details = [f"{_shown(name)}: {_REMEDIES[name]}." if name in _REMEDIES else f"{_shown(name)}." for name in shown]
    if len(names) > len(shown):
        details.append(f"And {len(names) - len(shown)} more.")
    details.append("The operator can allow a model server's own fields with `extraFields` at the model's deployment.")
    param = _shown(names[0])
    if model is None:
        return RefusedError(UNKNOWN_PARAMETER, details, param=param)
    return ModelRefusedError(model, UNKNOWN_PARAMETER, tuple(details), param=param)


def _shown(name: str) -> str:
    return ascii(name[:64])[1:-1]


def _validated(schema: type[Shape], body: dict[str, Any]) -> Shape:
    try:
        return schema.model_validate(body)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    unknown = [path for path, kind, _ in _told(problems, body) if kind == "extra_forbidden"]
    if unknown:
        raise _unknown(list(dict.fromkeys(unknown)))
    by_path: dict[str, list[str]] = {}
    for path, _, message in _told(problems, body):
        messages = by_path.setdefault(path, [])
        if message not in messages:
            messages.append(message)
    told = [f"{path}: {', or '.join(messages[:3])}." for path, messages in list(by_path.items())[:_MOST_PROBLEMS]]
    raise RefusedError(INVALID_PARAMETER, told, param=next(iter(by_path)))


def _told(problems: Any, body: Any) -> Iterator[tuple[str, str, str]]:
    """Yield path, kind and text of each problem; the names of a union's members are no part of a path."""
    for problem in problems:
        path, value = "", body
        for part in problem["loc"]:
            if isinstance(part, int):
                if isinstance(value, list) and part < len(value):
                    path, value = f"{path}[{part}]", value[part]
            elif isinstance(value, dict) and part in value:
                path, value = f"{path}.{_shown(part)}", value[part]
            elif isinstance(value, dict) and problem["type"] == "missing" and part is problem["loc"][-1]:
                path = f"{path}.{part}"
        yield path.removeprefix(".") or "body", problem["type"], _message(problem)


def _message(problem: Any) -> str:
    context = problem.get("ctx", {})
    if problem["type"] == "string_pattern_mismatch":
        pattern = context["pattern"]
        return next((text for start, text in _MEANINGS.items() if start in pattern), f"must match {pattern}")
    if problem["type"] == "value_error":
        return str(context["error"])
    if problem["type"] == "union_tag_invalid":
        return f"must be one of {context['expected_tags']}"
    if problem["type"] == "missing":
        return "is required"
    return str(problem["msg"])


def _user(body_user: str | None, header_user: str | None) -> str | None:
    if header_user is None:
        return body_user
    try:
        _USER.validate_python(header_user, strict=True)
    except ValidationError:
        text = f"The header that names a person must have 1 to {MOST_USER_CHARACTERS} letters, digits or ._@:|+=/-."
        raise RefusedError(INVALID_PARAMETER, [text], param="user") from None
    if body_user is not None and body_user != header_user:
        raise RefusedError(INVALID_PARAMETER, ["user: the header names another person."], param="user")
    return header_user


def _limits(request: Shape) -> set[int]:
    """Return what the request says of the answer's length, and how many answers it asks for at once."""
    if isinstance(request, CompletionRequest):
        prompts = len(request.prompt) if isinstance(request.prompt, list) else 1
        if prompts * (request.n or 1) > MOST_CHOICES:
            text = f"n: times the number of prompts must be at most {MOST_CHOICES}."
            raise RefusedError(INVALID_PARAMETER, [text], param="n")
    limits = {limit for name in _SPELLINGS if (limit := getattr(request, name, None)) is not None}
    if len(limits) > 1:
        text = "max_tokens: and max_completion_tokens are two names of one number, and differ."
        raise RefusedError(INVALID_PARAMETER, [text], param="max_tokens")
    return limits


def _limit(name: str, model: Model, limits: set[int]) -> int:
    limit = next(iter(limits), model.default_max_tokens)
    if limit > model.context_tokens:
        text = f"max_tokens: at most {model.context_tokens} for this model."
        raise ModelRefusedError(name, INVALID_PARAMETER, (text,), param="max_tokens")
    return limit


def _extra_body(name: str, model: Model, extra: dict[str, Any]) -> dict[str, Any]:
    refused = [field for field in extra if field not in model.fields]
    if refused:
        raise _unknown(refused, name)
    found = {}
    for field, value in extra.items():
        if value is None:
            continue
        try:
            FIELD_VALIDATORS.get(field, _JSON).validate_python(value)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise ModelRefusedError(name, INVALID_PARAMETER, (f"{field}: {_message(problem)}.",), param=field) from None
        if field not in FIELD_VALIDATORS and len(to_json(value)) > MOST_EXTRA_BYTES:
            text = f"{field}: at most {MOST_EXTRA_BYTES} bytes."
            raise ModelRefusedError(name, INVALID_PARAMETER, (text,), param=field)
        found[field] = value
    return found


def _refuse_tools(name: str, model: Model, request: Shape) -> None:
    """Refuse what the model server would answer with an error of its own, as if it were at fault."""
    asked = next((field for field in ("tools", "tool_choice") if getattr(request, field, None)), None)
    if asked is not None and not model.tools:
        raise ModelRefusedError(name, INVALID_PARAMETER, (f"{asked}: this model takes no tools.",), param=asked)


def _canonical(request: Shape, operation: Operation, user: str | None, limit: int, extra_body: dict[str, Any]) -> bytes:
    changed: dict[str, Any] = {}
    left_out: set[str] = {name for name in _SPELLINGS if name in type(request).model_fields}
    if operation in _LIMIT_FIELD:
        changed[_LIMIT_FIELD[operation]] = limit
        left_out.discard(_LIMIT_FIELD[operation])
    if user is not None:
        changed["user"] = user
    if operation == "completion" and getattr(request, "stream", False):
        # LiteLLM counts nothing of such a stream unless the model server says what it cost. For chat it asks by itself.
        changed["stream_options"] = StreamOptions(include_usage=True)
    if not getattr(request, "stream", False) and "stream_options" in type(request).model_fields:
        left_out.add("stream_options")
    text = request.model_copy(update=changed).model_dump_json(exclude_unset=True, by_alias=True, exclude=left_out)
    body = text.encode()
    if extra_body:
        body = body[:-1] + b',"extra_body":' + to_json(extra_body) + b"}"
    return body

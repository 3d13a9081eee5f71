"""What Hearth writes to the gateway, and what the gateway says is there.

The `Wanted…` shapes are what a claim asks for. The others are the parts of LiteLLM's answers that Hearth compares.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from hearth.claim.operations import OPERATIONS

NO_MODELS: Final = "no-default-models"
"""What a list of models says in place of being empty: LiteLLM reads an empty list as "all of them"."""
CLIENT_ROUTES: Final = (*(f"/v1{spec.path}" for spec in OPERATIONS.values()), "/v1/models")
"""The routes that a key may call: what the front passes. It is good for nothing else, even on LiteLLM's own port."""
PERSON_BUDGET_FIELD: Final = "end_user_budget_id"
"""Field of a key's metadata with the budget of its persons."""

ENVIRONMENT: Final = "stack"
"""Field of what is written on a team and a key, and input of their Pulumi resources, with the environment that they
belong to. It once was the stack's name; the rows and states of that time keep the word."""

_KEY: Final = re.compile(r"^sk-[A-Za-z0-9_-]{13,}$")
_MANAGER: Final = "hearth"


@dataclass(frozen=True)
class Mark:
    """Who an object at the gateway belongs to. It is written into the object's metadata and is what "ours" means."""

    environment: str
    """Environment that it belongs to."""
    tenant: str
    """Tenant that it is for."""
    app: str | None = None
    """Application that it is for; none for a team."""
    generation: int | None = None
    """Generation of a key; none for a team."""
    former: tuple[str, ...] = ()
    """What the environment was called before; what carries one of these names is ours and gets the new one."""

    def metadata(self) -> dict[str, Any]:
        """Return the mark as LiteLLM keeps it."""
        pairs = {ENVIRONMENT: self.environment, "tenant": self.tenant, "app": self.app, "generation": self.generation}
        return {"managed-by": _MANAGER, **{key: value for key, value in pairs.items() if value is not None}}

    def is_on(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether an object with this metadata carries exactly this mark."""
        names = ("managed-by", "tenant", "app", "generation")
        wanted = self.metadata()
        same = all(metadata.get(name) == wanted.get(name) for name in names)
        return same and metadata.get(ENVIRONMENT) in (self.environment, *self.former)


@dataclass(frozen=True)
class WantedTeam:
    """The team of a tenant (S3-49)."""

    team_id: str
    """Its id, `team_id(environment, tenant)`."""
    alias: str
    """The tenant's name."""
    models: tuple[str, ...]
    """Public model names; none means no model, not all of them."""
    mark: Mark
    """Who it belongs to."""
    max_budget: float | None = None
    """Spend per period in units of the accounting currency; none is unbounded (S3-50)."""
    budget_duration: str | None = None
    """The period, such as `30d`."""
    rpm_limit: int | None = None
    """Requests per minute."""
    tpm_limit: int | None = None
    """Tokens per minute."""

    def body(self) -> dict[str, Any]:
        """Return what is sent, limits that are not set included, so that an old one does not stay."""
        return {
            "team_id": self.team_id,
            "team_alias": self.alias,
            "models": list(self.models) or [NO_MODELS],
            "metadata": self.mark.metadata(),
            "max_budget": self.max_budget,
            "budget_duration": self.budget_duration,
            "rpm_limit": self.rpm_limit,
            "tpm_limit": self.tpm_limit,
        }


@dataclass(frozen=True)
class WantedKey:
    """The key of an application (S3-46). Its value is made outside the gateway and registered once."""

    value: str = field(repr=False)
    """The key, `sk-` and at least 13 more characters of letters, digits, `-` and `_`."""
    alias: str
    """`<tenant>--<app>--<generation>`, one key for ever."""
    team_id: str
    """Its team."""
    models: tuple[str, ...]
    """Public model names; none means no model, not all of them."""
    mark: Mark
    """Who it belongs to."""
    routes: tuple[str, ...] = CLIENT_ROUTES
    """Paths that it may call."""
    parallel_requests: int | None = None
    """Requests at once; LiteLLM bounds them for a key, and not for a team."""
    person_budget: str | None = None
    """Id of the budget of every person that a request with this key names (S3-56). LiteLLM's setting for all keys
    leaves a person unbounded until the first spend is in its database, some ten seconds; with the id on the key, the
    first request counts."""

    @property
    def token(self) -> str:
        """Return what LiteLLM keeps in place of the key, and names it by."""
        return key_token(self.value)

    def settings(self) -> dict[str, Any]:
        """Return what can be changed after registration, in the form that is sent."""
        person = {PERSON_BUDGET_FIELD: self.person_budget} if self.person_budget else {}
        return {
            "models": list(self.models) or [NO_MODELS],
            "allowed_routes": list(self.routes),
            "max_parallel_requests": self.parallel_requests,
            # LiteLLM keeps the budget of a key's persons in the key's metadata.
            "metadata": {**self.mark.metadata(), **person},
        }


@dataclass(frozen=True)
class WantedBudget:
    """A budget that LiteLLM applies by its id (S3-54)."""

    budget_id: str
    """Its id."""
    max_budget: float
    """Spend per period in units of the accounting currency."""
    budget_duration: str
    """The period, such as `1d`."""
    rpm_limit: int
    """Requests per minute."""
    tpm_limit: int
    """Tokens per minute."""

    def body(self) -> dict[str, Any]:
        """Return what is sent."""
        return {
            "budget_id": self.budget_id,
            "max_budget": self.max_budget,
            "budget_duration": self.budget_duration,
            "rpm_limit": self.rpm_limit,
            "tpm_limit": self.tpm_limit,
        }


class _Answer(BaseModel):
    """Part of an answer of LiteLLM; what is not named here is not read."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    def differences(self, wanted: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
        """Return, by field, what was wanted and what is there, where the two differ.

        Lists are compared without their order: LiteLLM gives none a meaning.
        """
        found = {}
        for name, value in wanted.items():
            there = getattr(self, name)
            same = sorted(value) == sorted(there) if isinstance(value, list) else value == there
            if not same:
                found[name] = (value, there)
        return found


class Team(_Answer):
    """A team as LiteLLM has it."""

    team_id: str
    """Its id."""
    team_alias: str | None = None
    """Its name."""
    models: list[str]
    """Models of its keys."""
    metadata: dict[str, Any]
    """What is written on it."""
    max_budget: float | None = None
    """Spend per period."""
    budget_duration: str | None = None
    """The period."""
    rpm_limit: int | None = None
    """Requests per minute."""
    tpm_limit: int | None = None
    """Tokens per minute."""


class Key(_Answer):
    """A key as LiteLLM has it: its SHA-256, never its value."""

    token: str
    """SHA-256 of the key, 64 hexadecimal digits."""
    key_alias: str | None = None
    """Its alias."""
    team_id: str | None = None
    """Its team."""
    models: list[str]
    """Models that it may use."""
    metadata: dict[str, Any]
    """What is written on it."""
    allowed_routes: list[str] = Field(default_factory=list)
    """Paths that it may call; all when empty."""
    max_parallel_requests: int | None = None
    """Requests at once."""
    blocked: bool | None = None
    """Whether it is refused."""
    expires: str | None = None
    """When it is refused from; never when none."""


class KeyPage(_Answer):
    """One page of `/key/list`. An answer without these fields is no answer (U-2)."""

    keys: list[Key]
    """The keys."""
    total_pages: int
    """How many pages there are."""


class Budget(_Answer):
    """A budget as LiteLLM has it."""

    budget_id: str
    """Its id."""
    max_budget: float | None = None
    """Spend per period."""
    budget_duration: str | None = None
    """The period."""
    rpm_limit: int | None = None
    """Requests per minute."""
    tpm_limit: int | None = None
    """Tokens per minute."""


class ModelName(_Answer):
    """One entry of `/v1/models`."""

    id: str
    """Public name of the model."""


class ModelList(_Answer):
    """Answer of `/v1/models`."""

    data: list[ModelName]
    """The models."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the public names, sorted."""
        return tuple(sorted(entry.id for entry in self.data))


def key_token(value: str) -> str:
    """Return what LiteLLM keeps in place of a key: its SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(value.encode()).hexdigest()


def is_key(value: str) -> bool:
    """Return whether LiteLLM accepts a key of this form."""
    return bool(_KEY.match(value))


def team_id(environment: str, tenant: str) -> str:
    """Return the id of a tenant's team: the same in every run, so that a team is found again (S3-49)."""
    return f"hearth-{environment}-{tenant}"


def key_alias(tenant: str, app: str, generation: int) -> str:
    """Return the alias of a key: unique, never empty, and told from the key of the next generation."""
    return f"{tenant}--{app}--{generation}"

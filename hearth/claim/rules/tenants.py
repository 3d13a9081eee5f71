"""Tenants and budgets (S3-45 … S3-58)."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.draft import Draft, Finding
from hearth.claim.problems import listed
from hearth.claim.reader import Path as Place
from hearth.claim.rules.names import public_names


def known_models(draft: Draft) -> Iterator[Finding]:
    """A tenant's keys are limited to models that there are; an empty list would mean all of them to the gateway."""
    aliases = draft.declared("aliases")
    served = draft.claim.llm.gpu_acceleration
    offered = {name for name, place in public_names(draft) if served or place[:2] != ("llm", "instances")} | aliases
    complete = draft.whole("aliases") and draft.valid("llm") and draft.valid("llm", "providers")
    all_providers = complete and not any(path[:2] == ("llm", "providers") for path in draft.invalid)
    for name, tenant in draft.claim.tenants.items():
        place: Place = ("tenants", name, "models")
        if tenant.models is None:
            continue
        if not tenant.models:
            yield Finding(
                place, "is an empty list", "Name at least one model, or leave it out for all that are offered"
            )
        for index, model in enumerate(tenant.models):
            if model in offered or not complete or ("/" in model and not all_providers):
                continue
            yield Finding((*place, index), "names no model that is offered", f"Offered: {listed(offered, none='none')}")


def limit_pairs(draft: Draft) -> Iterator[Finding]:
    """S3-50: a highest spend has a period, and a period a highest spend."""
    for name, tenant in draft.claim.tenants.items():
        place: Place = ("tenants", name, "limits")
        limits = tenant.limits
        if limits.max_spend is not None and limits.period is None:
            yield Finding((*place, "period"), "is missing, and maxSpend needs it", "Add a period such as 30d")
        if limits.period is not None and limits.max_spend is None:
            yield Finding((*place, "maxSpend"), "is missing, and period needs it", "Add it, or remove period")
        if limits.max_spend is not None and _is_zero(limits.max_spend):
            yield Finding((*place, "maxSpend"), "is zero", "Write an amount above zero, or remove the apps' llm: true")


def person_budget(draft: Draft) -> Iterator[Finding]:
    """S3-54: a person's budget is above zero."""
    budget = draft.claim.llm.person_budget
    if budget is not None and _is_zero(budget.max_spend):
        yield Finding(("llm", "personBudget", "maxSpend"), "is zero", "Write an amount above zero")


def _is_zero(amount: str) -> bool:
    return not amount.strip("0.")


def key_generations(draft: Draft) -> Iterator[Finding]:
    """U-2: a generation goes up alone, because the key of a lower one takes the place of the used one at once."""
    if draft.deployed is None:
        return
    for name, tenant in draft.claim.tenants.items():
        before = draft.deployed.tenants.get(name)
        for app, declared in tenant.apps.items():
            deployed = before.apps.get(app) if before else None
            if deployed is None or not (deployed.llm and declared.llm):
                continue
            if declared.key_generation < deployed.key_generation:
                yield Finding(
                    ("tenants", name, "apps", app, "keyGeneration"),
                    f"is below the deployed generation {deployed.key_generation}",
                    f"Write {deployed.key_generation}, or {deployed.key_generation + 1} for a new key",
                )


RULES: Final = (known_models, key_generations, limit_pairs, person_budget)

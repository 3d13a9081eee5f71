"""What the intake is told of the claim: for each public name, what a request may say (architecture §4, Intake)."""

import json
import math
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final

from hearth.claim.operations import in_order
from hearth.compile.files import ConfigFiles
from hearth.compile.front import largest_request_bytes
from hearth.topology.topology import Route, Target, Topology

SETTINGS: Final = "intake.json"
"""Name of the file."""
MOST_DEFAULT_TOKENS: Final = 4_096
"""Most tokens of an answer to a request that names no bound, where the claim says nothing; and never more than half of
the context, because the prompt has to find room in it too."""
START: Final = "start.py"
"""Name of the program: Python finds the room in the folder that this one lies in."""

_PACKAGE: Final = "hearth.intake"


def compile_intake(topology: Topology, *, withheld: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the content of intake.json.

    A name is in it as long as one of its deployments is offered, like LiteLLM's list of models. An alias takes what all
    of its deployments take.

    Args:
        topology: the topology.
        withheld: reasons by endpoint id; the deployments of these endpoints are left out (C-18).
    """
    models = {}
    for route in topology.routes:
        targets = list(_offered(route, withheld or {}))
        if targets:
            models[route.name] = _model(topology, targets, route.max_cost_micros)
    return {
        "version": 1,
        "maxRequestBytes": largest_request_bytes(topology),
        "longestAnswerSeconds": max(1, math.ceil(topology.longest_request_ms / 1_000)),
        "models": models,
    }


def intake_json(settings: Mapping[str, Any]) -> str:
    """Return the text of intake.json: keys sorted, so that one content has one text."""
    return json.dumps(settings, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def intake_program() -> ConfigFiles:
    """Return the room's own files by path, as they are laid out in the gateway's container."""
    package = files(_PACKAGE)
    modules = {
        f"{_PACKAGE.replace('.', '/')}/{file.name}": file.read_text(encoding="utf-8")
        for file in package.iterdir()
        if file.name.endswith(".py")
    }
    return ConfigFiles(
        {**modules, START: "import sys\n\nfrom hearth.intake.__main__ import main\n\nmain(sys.argv[1:])\n"}
    )


def _offered(route: Route, withheld: Mapping[str, str]) -> Iterator[Target]:
    if route.obstacle is not None:
        return
    for target in route.targets:
        reached = target.reached_by
        if reached is not None and not (reached.kind == "endpoint" and reached.name in withheld):
            yield target


def _model(topology: Topology, targets: list[Target], max_cost_micros: int | None) -> dict[str, Any]:
    context = min(target.context_tokens for target in targets)
    operations = set.intersection(*(set(target.operations) for target in targets))
    deployments = [target.deployment for target in targets]
    fields = [set(deployment.extra_fields) if deployment else set() for deployment in deployments]
    return {
        # LiteLLM asks any of its deployments for any operation; what only some answer is not offered.
        "operations": list(in_order(operations)),
        "contextTokens": context,
        "deadlineMs": _deadline_ms(topology, targets),
        "defaultMaxTokens": min(_default_tokens(target) for target in targets),
        "engines": [_engine(topology, target) for target in targets],
        "extraFields": sorted(set.intersection(*fields)),
        "tools": all(_takes_tools(topology, target) for target in targets),
        "embeddingSpace": _embedding_space(targets),
        "maxCostMicros": max_cost_micros,
        "attempts": [] if max_cost_micros is None else [_attempt(target) for target in targets],
    }


def _attempt(target: Target) -> dict[str, int]:
    return {
        "contextTokens": target.context_tokens,
        "inputMicrosPerMillionTokens": target.input_micros_per_million_tokens,
        "outputMicrosPerMillionTokens": target.output_micros_per_million_tokens,
    }


def _embedding_space(targets: list[Target]) -> str | None:
    """Return the one space of an alias, as the claim's rules have it (S4-127); a provider's model declares none."""
    first = targets[0].deployment
    return first.embedding_space if first else None


def _deadline_ms(topology: Topology, targets: list[Target]) -> int:
    """Return the longest time that one of the targets may take; trying several extends nothing (S4-141)."""
    return max(
        topology.upstream(target.reached_by).bounds.request_timeout_ms for target in targets if target.reached_by
    )


def _default_tokens(target: Target) -> int:
    declared = target.deployment.default_max_tokens if target.deployment else None
    return declared or max(1, min(MOST_DEFAULT_TOKENS, target.context_tokens // 2))


def _takes_tools(topology: Topology, target: Target) -> bool:
    """Return whether tools may be asked for: llama.cpp answers them with 500 where its chat template is a named one."""
    runtime = topology.upstream(target.reached_by).runtime if target.reached_by else None
    return runtime is None or runtime.engine != "llamaCpp" or runtime.chat_template is None


def _engine(topology: Topology, target: Target) -> str | None:
    runtime = topology.upstream(target.reached_by).runtime if target.reached_by else None
    return runtime.engine if runtime else None

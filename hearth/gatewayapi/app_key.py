"""The key of an application, as a Pulumi resource (S3-45, S3-46, U-1 … U-3).

Rotation: a new generation brings a new value and a new alias. Pulumi registers the new key, rewrites the application's
Secret, and only then gives the old key an end, `grace_seconds` from then, until which applications take up the new one.
The gateway keeps to that end by itself, so that nothing waits for it. The row of a key that has ended goes with the
next one that is removed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, UpdateResult

from hearth.gatewayapi.client import GatewayClient
from hearth.gatewayapi.provider import FORMER, GatewayProvider
from hearth.gatewayapi.records import (
    ENVIRONMENT,
    NO_MODELS,
    PERSON_BUDGET_FIELD,
    Key,
    Mark,
    WantedKey,
    is_key,
    key_alias,
    key_token,
)
from hearth.kubeapi.errors import NotOursError
from hearth.kubeapi.provider import CLUSTER, Props, are_names, is_whole_above_zero, step, whole

LONGEST_GRACE_SECONDS: Final = 3_600
"""Longest time in seconds for which an old key is kept after a rotation."""

_IDENTITY: Final = ("tenant", "app", "generation")
_PLACE: Final = ("team_id", "alias")


class AppKeyProvider(GatewayProvider):
    """Registers, changes, reads and removes one key. Its value goes to the gateway once, and is in no output."""

    required: ClassVar[tuple[str, ...]] = (ENVIRONMENT, "tenant", "app", "generation", "team_id", "alias", "value")
    changing: ClassVar[tuple[str, ...]] = (ENVIRONMENT, "models", "parallel_requests", "person_budget", "grace_seconds")
    rules: ClassVar = {
        "generation": (is_whole_above_zero, "must be a whole number above 0"),
        "value": (is_key, "must be `sk-` and at least 13 letters, digits, `-` or `_`"),
        "models": (are_names, "must be a list of public model names"),
        "parallel_requests": (is_whole_above_zero, "must be a whole number above 0"),
        "grace_seconds": (
            lambda value: 0 <= value <= LONGEST_GRACE_SECONDS,
            f"must be 0 to {LONGEST_GRACE_SECONDS} seconds",
        ),
    }

    def diff(self, _id: str, _olds: Props, _news: Props) -> DiffResult:
        """Tell a change of the key from another key.

        A blocked key is no difference: whoever blocked it had a reason, and a new generation replaces it.
        """
        # A value that a preview does not know yet is another one.
        renewed = key_token(str(_news.get("value"))) != _id
        other = [name for name in (*_IDENTITY, *_PLACE) if _olds.get(name) != _news.get(name)]
        changes = self.changes(_olds, _news)
        replaces = [*other, *(["value"] if renewed else [])]
        # One value cannot be registered twice, so that such a key is removed before it is registered anew.
        same_value = bool(replaces) and not renewed
        return DiffResult(bool(replaces or changes), replaces, delete_before_replace=same_value)

    @step
    def create(self, props: Props) -> CreateResult:
        """Register the key, or take up the one that an earlier run registered."""
        wanted = _wanted(props)
        with self.gateway(props) as client:
            there = self._taken_up(client, wanted)
            made = client.register_key(wanted) if there is None else client.update_key(wanted)
        return CreateResult(wanted.token, _outputs(props, made))

    @step
    def read(self, id_: str, props: Props) -> ReadResult:
        """Say what is there; a key that is gone is told from one that the gateway cannot be asked about."""
        with self.gateway(props) as client:
            there = client.key_by_token(id_)
        return ReadResult("", {}) if there is None else ReadResult(id_, _outputs(props, there))

    @step
    def update(self, _id: str, _olds: Props, _news: Props) -> UpdateResult:
        """Write what changed; the key stays usable."""
        with self.gateway(_news) as client:
            return UpdateResult(_outputs(_news, client.update_key(_wanted(_news))))

    @step
    def delete(self, _id: str, _props: Props) -> None:
        """Block the key, which acts on every replica at once, and delete it.

        A key that a later generation follows ends by itself after the time of grace, and is deleted with that one.
        """
        with self.gateway(_props) as client:
            others = {key.token: generation for key, generation in _generations(client, _props)}
            own = int(_props["generation"])
            for token, generation in others.items():
                if generation < own:
                    _remove(client, token)
            if client.key_by_token(_id) is None:
                return
            grace = int(_props.get("grace_seconds") or 0)
            if grace > 0 and any(generation > own for generation in others.values()):
                client.expire_key(_id, grace)
            else:
                _remove(client, _id)

    @staticmethod
    def _taken_up(client: GatewayClient, wanted: WantedKey) -> Key | None:
        """Return our own key if it is there, and clear away one that stands in its place and is ours too.

        Raises:
            NotOursError: the value or the alias belongs to a key that this stack did not make.
        """
        there = client.key_by_token(wanted.token)
        if there is not None:
            if not wanted.mark.is_on(there.metadata):
                raise NotOursError(
                    f"the value of the key {wanted.alias} is registered at the gateway already, as "
                    f"{there.key_alias or 'a key without alias'}, and this stack did not do it. Raise the key's "
                    "generation to make a new value, and find out who uses the old one."
                )
            if there.team_id == wanted.team_id and there.key_alias == wanted.alias:
                if there.blocked:
                    client.unblock_key(there.token)
                return there
            _remove(client, there.token)
        named = client.key_by_alias(wanted.alias)
        if named is not None:
            if not wanted.mark.is_on(named.metadata):
                raise NotOursError(
                    f"the gateway has a key {wanted.alias} that this stack did not make. Hearth does not touch it: "
                    "rename the application, or delete the key at the gateway if nobody needs it."
                )
            # A run registered it and its state was lost: nobody has its value any more but its own Secret.
            _remove(client, named.token)
        return None


class AppKey(Resource, module="hearth", name="AppKey"):
    """The key of an application, registered at the gateway."""

    alias: pulumi.Output[str]
    """`<tenant>--<app>--<generation>`."""
    blocked: pulumi.Output[bool]
    """Whether somebody blocked it at the gateway."""

    def __init__(
        self,
        resource_name: str,
        *,
        cluster: str,
        environment: str,
        former: Sequence[str] = (),
        tenant: str,
        app: str,
        team_id: pulumi.Input[str],
        value: pulumi.Input[str],
        models: Sequence[str],
        generation: int = 1,
        parallel_requests: int | None = None,
        person_budget: pulumi.Input[str] | None = None,
        grace_seconds: int = 0,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare the key.

        Args:
            resource_name: name of the resource in Pulumi.
            cluster: identity of the cluster that it is in.
            environment: environment that it belongs to.
            former: what the environment was called before.
            tenant: the tenant's name.
            app: the application's name.
            team_id: output of the tenant's `Team`.
            value: the key, a secret output; made for this generation.
            models: public model names that it may use; none means no model at all.
            generation: 1 or more; raise it together with the value to rotate the key.
            parallel_requests: requests at once; LiteLLM has this limit for a key and not for a team.
            person_budget: id of the budget of every person that a request names, output of `PersonBudget` (S3-56).
            grace_seconds: how long the key stays usable after a later generation has replaced it, 0 to 3600.
            opts: options of Pulumi.
        """
        inputs = {
            CLUSTER: cluster,
            ENVIRONMENT: environment,
            FORMER: list(former),
            "tenant": tenant,
            "app": app,
            "generation": generation,
            "team_id": team_id,
            # An input, so that a preview knows it too.
            "alias": key_alias(tenant, app, generation),
            "value": pulumi.Output.secret(value),
            "models": list(models),
            "parallel_requests": parallel_requests,
            "person_budget": person_budget,
            "grace_seconds": grace_seconds,
            "blocked": None,
        }
        super().__init__(AppKeyProvider(), resource_name, inputs, opts)


def _mark(props: Props) -> Mark:
    former = tuple(props.get(FORMER) or ())
    return Mark(props[ENVIRONMENT], props["tenant"], props["app"], int(props["generation"]), former)


def _wanted(props: Props) -> WantedKey:
    return WantedKey(
        value=props["value"],
        alias=props["alias"],
        team_id=props["team_id"],
        models=tuple(props.get("models") or ()),
        mark=_mark(props),
        parallel_requests=whole(props, "parallel_requests"),
        person_budget=props.get("person_budget"),
    )


def _outputs(props: Props, there: Key) -> Props:
    identity = {name: props[name] for name in (ENVIRONMENT, *_IDENTITY)}
    outputs: dict[str, Any] = {
        CLUSTER: props.get(CLUSTER),
        **identity,
        "alias": there.key_alias,
        "team_id": there.team_id,
        "models": sorted(name for name in there.models if name != NO_MODELS),
        "parallel_requests": there.max_parallel_requests,
        "person_budget": there.metadata.get(PERSON_BUDGET_FIELD),
        "grace_seconds": props.get("grace_seconds"),
        "blocked": bool(there.blocked),
    }
    return {name: value for name, value in outputs.items() if value is not None}


def _remove(client: GatewayClient, token: str) -> None:
    client.block_key(token)
    client.delete_key(token)


def _generations(client: GatewayClient, props: Props) -> Iterator[tuple[Key, int]]:
    """Yield the keys of every other generation for the same application, with their generations."""
    mark = _mark(props)
    for key in client.keys_of_team(props["team_id"]):
        generation = key.metadata.get("generation")
        if not isinstance(generation, int) or generation == mark.generation:
            continue
        if replace(mark, generation=generation).is_on(key.metadata):
            yield key, generation

"""The team of a tenant, as a Pulumi resource (S3-49)."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import pulumi
from pulumi.dynamic import CheckResult, CreateResult, ReadResult, Resource, UpdateResult

from hearth.gatewayapi.provider import FORMER, GatewayProvider
from hearth.gatewayapi.records import ENVIRONMENT, NO_MODELS, Key, Mark, WantedTeam, team_id
from hearth.gatewayapi.records import Team as TeamRecord
from hearth.kubeapi.errors import NotOursError
from hearth.kubeapi.provider import CLUSTER, Props, are_names, is_whole_above_zero, step, whole

_READ: Final = ("max_budget", "budget_duration", "rpm_limit", "tpm_limit")


class TeamProvider(GatewayProvider):
    """Makes, changes, reads and deletes one team; a team that an earlier run made is taken up again."""

    required: ClassVar[tuple[str, ...]] = (ENVIRONMENT, "tenant", "team_id")
    replacing: ClassVar[tuple[str, ...]] = ("tenant", "team_id")
    changing: ClassVar[tuple[str, ...]] = (ENVIRONMENT, "models", *_READ)
    rules: ClassVar = {
        "models": (are_names, "must be a list of public model names"),
        "max_budget": (lambda value: value >= 0, "must be an amount of 0 or more"),
        "rpm_limit": (is_whole_above_zero, "must be a whole number above 0"),
        "tpm_limit": (is_whole_above_zero, "must be a whole number above 0"),
    }

    def check(self, _olds: Props, news: Props) -> CheckResult:
        """Keep the id that the team was made with: another one would be another team, without its spend."""
        if _olds.get("team_id") and _olds.get("tenant") == news.get("tenant"):
            news = {**news, "team_id": _olds["team_id"]}
        return super().check(_olds, news)

    @step
    def create(self, props: Props) -> CreateResult:
        """Make the team, or take up the one that is there if it is ours."""
        wanted = _wanted(props)
        with self.gateway(props) as client:
            there = client.team(wanted.team_id)
            if there is None:
                made = client.create_team(wanted)
            elif wanted.mark.is_on(there.metadata):
                made = client.update_team(wanted)
            else:
                raise NotOursError(
                    f"the gateway has a team {wanted.team_id} that this stack did not make. Hearth does not touch it: "
                    "rename the tenant, or delete the team at the gateway if nobody needs it."
                )
        return CreateResult(wanted.team_id, _outputs(props, made))

    @step
    def read(self, id_: str, props: Props) -> ReadResult:
        """Say what is there; a team that is gone is told from one that the gateway cannot be asked about."""
        with self.gateway(props) as client:
            there = client.team(id_)
        return ReadResult("", {}) if there is None else ReadResult(id_, _outputs(props, there))

    @step
    def update(self, _id: str, _olds: Props, _news: Props) -> UpdateResult:
        """Write what changed."""
        with self.gateway(_news) as client:
            return UpdateResult(_outputs(_news, client.update_team(_wanted(_news))))

    @step
    def delete(self, _id: str, _props: Props) -> None:
        """Delete the team, and before it what is left of this tenant's keys.

        A key that somebody else put into the team stops the deletion, because LiteLLM would delete it too.
        """
        with self.gateway(_props) as client:
            for key in client.keys_of_team(_id):
                if _is_left_over(key, _props):
                    client.block_key(key.token)
                    client.delete_key(key.token)
            client.delete_team(_id)


class Team(Resource, module="hearth", name="Team"):
    """The team of a tenant at the gateway."""

    team_id: pulumi.Output[str]
    """Its id at the gateway."""

    def __init__(
        self,
        resource_name: str,
        *,
        cluster: str,
        environment: str,
        former: Sequence[str] = (),
        tenant: str,
        models: Sequence[str],
        max_budget: float | None = None,
        budget_duration: str | None = None,
        rpm_limit: int | None = None,
        tpm_limit: int | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare the team.

        Args:
            resource_name: name of the resource in Pulumi.
            cluster: identity of the cluster that it is in.
            environment: environment that it belongs to.
            former: what the environment was called before.
            tenant: the tenant's name.
            models: public model names that the tenant may use; none means no model at all.
            max_budget: spend per period in units of the accounting currency; unbounded when absent (S3-50).
            budget_duration: the period, such as `30d`; needed with `max_budget`.
            rpm_limit: requests per minute.
            tpm_limit: tokens per minute.
            opts: options of Pulumi; it has to depend on the gateway.
        """
        inputs = {
            CLUSTER: cluster,
            ENVIRONMENT: environment,
            FORMER: list(former),
            "tenant": tenant,
            # An input, so that a preview knows it too.
            "team_id": team_id(environment, tenant),
            "models": list(models),
            "max_budget": max_budget,
            "budget_duration": budget_duration,
            "rpm_limit": rpm_limit,
            "tpm_limit": tpm_limit,
        }
        super().__init__(TeamProvider(), resource_name, inputs, opts)


def _mark(props: Props) -> Mark:
    return Mark(props[ENVIRONMENT], props["tenant"], former=tuple(props.get(FORMER) or ()))


def _wanted(props: Props) -> WantedTeam:
    tenant = props["tenant"]
    return WantedTeam(
        team_id=props["team_id"],
        alias=tenant,
        models=tuple(props.get("models") or ()),
        mark=_mark(props),
        max_budget=props.get("max_budget"),
        budget_duration=props.get("budget_duration"),
        rpm_limit=whole(props, "rpm_limit"),
        tpm_limit=whole(props, "tpm_limit"),
    )


def _outputs(props: Props, there: TeamRecord) -> Props:
    outputs: dict[str, Any] = {
        CLUSTER: props.get(CLUSTER),
        ENVIRONMENT: props[ENVIRONMENT],
        "tenant": props["tenant"],
        "team_id": there.team_id,
        "models": sorted(name for name in there.models if name != NO_MODELS),
    }
    outputs |= {name: getattr(there, name) for name in _READ}
    return {name: value for name, value in outputs.items() if value is not None}


def _is_left_over(key: Key, props: Props) -> bool:
    """Return whether a key is of one of this tenant's applications."""
    return _mark(props).is_on({**key.metadata, "app": None, "generation": None})

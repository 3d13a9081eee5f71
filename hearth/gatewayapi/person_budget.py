"""The budget of every person, as a Pulumi resource (S3-54 … S3-58)."""

from contextlib import suppress
from typing import ClassVar

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, ReadResult, Resource, UpdateResult

from hearth.gatewayapi.provider import GatewayProvider
from hearth.gatewayapi.records import Budget, WantedBudget
from hearth.kubeapi.errors import OperatorError
from hearth.kubeapi.provider import CLUSTER, Props, is_whole_above_zero, step


class PersonBudgetProvider(GatewayProvider):
    """Makes, changes, reads and deletes one budget.

    A budget carries no mark at LiteLLM; its id is what makes it ours, and one of that id is taken up.
    """

    required: ClassVar[tuple[str, ...]] = ("budget_id", "max_budget", "budget_duration", "rpm_limit", "tpm_limit")
    replacing: ClassVar[tuple[str, ...]] = ("budget_id",)
    changing: ClassVar[tuple[str, ...]] = ("max_budget", "budget_duration", "rpm_limit", "tpm_limit")
    rules: ClassVar = {
        "max_budget": (lambda value: value >= 0, "must be an amount of 0 or more"),
        "rpm_limit": (is_whole_above_zero, "must be a whole number above 0"),
        "tpm_limit": (is_whole_above_zero, "must be a whole number above 0"),
    }

    @step
    def create(self, props: Props) -> CreateResult:
        """Make the budget, or take up the one that is there."""
        return CreateResult(props["budget_id"], self._written(props))

    def _written(self, props: Props) -> Props:
        wanted = _wanted(props)
        with self.gateway(props) as client:
            there = client.budget(wanted.budget_id)
            made = client.create_budget(wanted) if there is None else client.update_budget(wanted)
        return _outputs(props, made)

    def diff(self, _id: str, _olds: Props, _news: Props) -> DiffResult:
        """Compare what the gateway has now with what is wanted: a budget that somebody changed there, or deleted, does
        not outlive the next deployment (S3-55). A gateway that cannot be asked is taken to have what was last seen.
        """
        seen = _olds
        with suppress(OperatorError):
            if self.is_ready(_olds):
                with self.gateway(_olds) as client:
                    there = client.budget(_id)
                seen = _outputs(_olds, there) if there else {CLUSTER: _olds.get(CLUSTER), "budget_id": _id}
        return super().diff(_id, seen, _news)

    @step
    def read(self, id_: str, props: Props) -> ReadResult:
        """Say what is there; a budget that is gone is told from one that the gateway cannot be asked about."""
        with self.gateway(props) as client:
            there = client.budget(id_)
        return ReadResult("", {}) if there is None else ReadResult(id_, _outputs(props, there))

    @step
    def update(self, _id: str, _olds: Props, _news: Props) -> UpdateResult:
        """Write what changed. The replicas hold to it when their copy is a minute old."""
        return UpdateResult(self._written(_news))

    @step
    def delete(self, _id: str, _props: Props) -> None:
        """Delete the budget."""
        with self.gateway(_props) as client:
            client.delete_budget(_id)


class PersonBudget(Resource, module="hearth", name="PersonBudget"):
    """The budget that the gateway holds every person to whom a request names."""

    budget_id: pulumi.Output[str]
    """Its id at the gateway."""

    def __init__(
        self,
        resource_name: str,
        *,
        cluster: str,
        budget_id: str,
        max_budget: float,
        budget_duration: str,
        rpm_limit: int,
        tpm_limit: int,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare the budget.

        Args:
            resource_name: name of the resource in Pulumi.
            cluster: identity of the cluster that it is in.
            budget_id: its id, the one that the gateway's configuration names.
            max_budget: spend of one person per period, in units of the accounting currency.
            budget_duration: the period, such as `1d`.
            rpm_limit: requests of one person per minute.
            tpm_limit: tokens of one person per minute.
            opts: options of Pulumi; it has to depend on the gateway.
        """
        inputs = {
            CLUSTER: cluster,
            "budget_id": budget_id,
            "max_budget": max_budget,
            "budget_duration": budget_duration,
            "rpm_limit": rpm_limit,
            "tpm_limit": tpm_limit,
        }
        super().__init__(PersonBudgetProvider(), resource_name, inputs, opts)


def _wanted(props: Props) -> WantedBudget:
    return WantedBudget(
        budget_id=props["budget_id"],
        max_budget=props["max_budget"],
        budget_duration=props["budget_duration"],
        rpm_limit=int(props["rpm_limit"]),
        tpm_limit=int(props["tpm_limit"]),
    )


def _outputs(props: Props, there: Budget) -> Props:
    outputs = {CLUSTER: props.get(CLUSTER), **there.model_dump()}
    return {name: value for name, value in outputs.items() if value is not None}

"""What the Pulumi resources of our own that talk to a cluster have in common.

Pulumi keeps, with every resource, the pickled provider that made it, and uses it again to delete the resource. Here a
pickle holds nothing but the name of a class, so the names of the provider classes and of their modules are kept for
ever. How to reach the cluster is in none of them: it comes from the stack's configuration or the environment of
whoever runs Pulumi. What is kept of the cluster is its identity, so that `pulumi destroy` and `pulumi refresh`, which
do not run the program, cannot take another cluster for it.
"""

import os
from collections.abc import Callable, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, ClassVar, Final

from pulumi.dynamic import CheckFailure, CheckResult, ConfigureRequest, DiffResult, ResourceProvider
from pulumi.runtime.rpc import contains_unknowns

from hearth.kubeapi.client import KubernetesApi
from hearth.kubeapi.cluster import STACK_CONTEXT, STACK_KUBECONFIG, Cluster
from hearth.kubeapi.errors import OperatorError

Props = dict[str, Any]
"""Inputs or outputs of a resource. Numbers are floats, and what is `None` is absent."""

CLUSTER: Final = "cluster"
"""Input of a resource: the identity of the cluster that it is in, as `KubernetesApi.identity` gives it."""

_DEBUG: Final = "HEARTH_DEBUG"


class StepFailed(Exception):  # noqa: N818 - the operator reads this name
    """A step of `pulumi up` failed, and the message says all that there is to say.

    Pulumi prints the traceback of whatever a provider raises. This exception has none.
    """

    # Printed without the name of a module.
    __module__ = "builtins"

    @property
    def __traceback__(self) -> TracebackType | None:
        """Return none, so that only the message is printed."""
        return None

    @__traceback__.setter
    def __traceback__(self, _value: TracebackType | None) -> None:
        """Keep none."""


def step[**Parameters, Result](method: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a provider's method fail with a message instead of a traceback, unless HEARTH_DEBUG is 1."""

    @wraps(method)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        try:
            return method(*args, **kwargs)
        except OperatorError as error:
            if os.environ.get(_DEBUG) == "1":
                raise
            raise StepFailed(str(error)) from None

    return call


class ClusterProvider(ResourceProvider):
    """Base of the providers: inputs are checked and put in order, and compared by name."""

    # The pickle holds no secret, and Pulumi need not treat it as one.
    serialize_as_secret_always = False

    replacing: ClassVar[tuple[str, ...]] = ()
    """Inputs whose change makes another object."""
    changing: ClassVar[tuple[str, ...]] = ()
    """Inputs whose change is written to the same object."""
    rules: ClassVar[Mapping[str, tuple[Callable[[Any], bool], str]]] = {}
    """By input: what must hold of a value that is there, and what the operator is told otherwise."""
    required: ClassVar[tuple[str, ...]] = ()
    """Inputs that must be there."""

    kubeconfig: str | None = None
    """Kubeconfig that the stack's configuration names."""
    context: str | None = None
    """Context that the stack's configuration names."""

    def configure(self, req: ConfigureRequest) -> None:
        """Read which cluster is meant out of the stack's configuration."""
        self.kubeconfig = req.config.get(STACK_KUBECONFIG)
        self.context = req.config.get(STACK_CONTEXT)

    def check(self, _olds: Props, news: Props) -> CheckResult:
        """Refuse wrong inputs, all at once and without their values, and put lists in order."""
        failures = [CheckFailure(name, "is required") for name in self.required if news.get(name) in (None, "")]
        for name, (holds, reason) in self.rules.items():
            value = news.get(name)
            if value is not None and not contains_unknowns(value) and not holds(value):
                failures.append(CheckFailure(name, reason))
        ordered = {name: sorted(value) if are_names(value) else value for name, value in news.items()}
        return CheckResult(ordered, failures)

    def diff(self, _id: str, _olds: Props, _news: Props) -> DiffResult:
        """Compare what is there, as it was last seen, with what is wanted."""
        replaces = [name for name in self.replacing if _olds.get(name) != _news.get(name)]
        changes = self.changes(_olds, _news)
        return DiffResult(changes=bool(replaces or changes), replaces=replaces, delete_before_replace=False)

    def changes(self, olds: Props, news: Props) -> list[str]:
        """Return the inputs that are written to the same object because they changed, or were never recorded."""
        return [name for name in (CLUSTER, *self.changing) if olds.get(name) != news.get(name)]

    def kubernetes(self, props: Props) -> KubernetesApi:
        """Return the API of the cluster that a resource is in.

        Args:
            props: inputs or outputs of the resource. One that an older version made names no cluster.

        Raises:
            ClusterError: nothing says which cluster is meant, or it cannot be used, or it is another one.
        """
        kubernetes = KubernetesApi(Cluster.named(self.kubeconfig, self.context))
        if recorded := props.get(CLUSTER):
            kubernetes.require(recorded)
        return kubernetes


def whole(props: Mapping[str, Any], name: str) -> int | None:
    """Return a whole number of a resource, which arrives as a float; none when it is absent."""
    value = props.get(name)
    return None if value is None else int(value)


def is_whole_above_zero(value: Any) -> bool:
    """Return whether a number is whole and above zero."""
    return isinstance(value, int | float) and value == int(value) and value > 0


def are_names(value: Any) -> bool:
    """Return whether something is a list of texts that are not empty."""
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)

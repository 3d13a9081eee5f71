"""Where the runner stands that measures endpoints in Pods: a namespace of its own, with one way out (S4-91, S4-92).

What runs in it is started by `hearth qualify` and is gone when it has ended; here is what has to be there before.
"""

from typing import Final

from hearth.compile.manifests.common import Object, labels, pod_security_labels
from hearth.compile.names import RUNNER_NAMESPACE
from hearth.topology.topology import Topology

SERVICE_ACCOUNT: Final = "hearth-runner"
"""ServiceAccount of the runner, which has no right and no token."""


def runner(topology: Topology) -> list[Object]:
    """Return the runner's namespace and ServiceAccount; nothing where no endpoint is in a Pod.

    Args:
        topology: the topology.
    """
    if not topology.pods:
        return []
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": RUNNER_NAMESPACE,
            "labels": {**labels(RUNNER_NAMESPACE, "runner"), **pod_security_labels()},
        },
    }
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {
            "name": SERVICE_ACCOUNT,
            "namespace": RUNNER_NAMESPACE,
            "labels": labels(SERVICE_ACCOUNT, "runner"),
        },
        "automountServiceAccountToken": False,
    }
    return [Object.named(namespace), Object.named(account)]

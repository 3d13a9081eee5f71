"""The Secret that images are pulled with: without it a deployment would wait for Pods that never start."""

from collections.abc import Iterator
from typing import Final

from hearth.claim.problems import Problem
from hearth.kubeapi.client import KubernetesApi
from hearth.topology.topology import Topology

DOCKER_CONFIG: Final = "kubernetes.io/dockerconfigjson"
"""Type of such a Secret; the kubelet ignores any other."""
_FIELD: Final = "hearth:policy.registry.pullSecret"


def pull_secret_problems(kubernetes: KubernetesApi, topology: Topology) -> Iterator[Problem]:
    """Say what is wrong with the Secret that the claim names, if it names one.

    Args:
        kubernetes: the cluster.
        topology: what the claim declares.

    Raises:
        ClusterError: the Kubernetes API cannot be used.
    """
    name, namespace = topology.policy.registry.pull_secret, topology.namespace
    if name is None:
        return
    found = kubernetes.secret(namespace, name)
    if found is None:
        yield Problem(
            _FIELD,
            f"names the Secret {name}, which {namespace} does not have",
            f"Make it: `kubectl -n {namespace} create secret generic {name} --type={DOCKER_CONFIG} "
            "--from-file=.dockerconfigjson=config.json`; docs/operations.md says how to make the namespace before the "
            "first deployment",
        )
    elif found.get("type") != DOCKER_CONFIG:
        yield Problem(
            _FIELD, f"names a Secret that is not of the type {DOCKER_CONFIG}", "Name the one of your registry"
        )

"""Whoever deploys in the tests: an identity with the ClusterRole of docs/operations.md and nothing else."""

import json
import re
from pathlib import Path

import yaml

from tests.cluster.kube import Kube
from tests.cluster.stack import ROOT

NAME = "hearth-deployer"


def documented_role() -> str:
    """The ClusterRole that the documents give to whoever deploys."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    return next(part for part in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "kind: ClusterRole" in part)


def deployer(kube: Kube, folder: Path, environment: dict[str, str], *, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Make the identity, and return the environment of the cluster with its kubeconfig.

    Args:
        kube: the cluster, with every right.
        folder: where the kubeconfig is written.
        environment: the environment of the cluster.
        without: kinds that another identity of the same sort has no rights for.
    """
    name = f"{NAME}-less" if without else NAME
    role = yaml.safe_load(documented_role())
    role["metadata"]["name"] = name
    role["rules"] = [rule for rule in role["rules"] if rule["resources"][0] not in without]
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
    }
    kube.apply(role, account, binding)
    token = kube.run("-n", "default", "create", "token", name, "--duration=4h").strip()
    config = json.loads(kube.run("config", "view", "--flatten", "--minify", "--raw", "-o", "json"))
    config["users"][0]["user"] = {"token": token}
    file = folder / f"{name}.kubeconfig"
    file.touch(mode=0o600)
    file.write_text(json.dumps(config))
    return {**environment, "KUBECONFIG": str(file)}

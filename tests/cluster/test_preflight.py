"""`hearth preflight` against a real cluster: with all rights, with those of the documents, and with less."""

import json
import subprocess
from typing import Any

import pytest
import yaml

from tests.cluster.deployer import deployer
from tests.cluster.kube import Kube
from tests.cluster.stack import ROOT

pytestmark = [pytest.mark.cluster, pytest.mark.apart]


def hearth(
    environment: dict[str, str], *arguments: str, stack: str = "home"
) -> tuple[int, dict[str, list[dict[str, Any]]], str]:
    """Look for an environment: exit code, findings by check, and what was said beside them."""
    command = [str(ROOT / ".venv/bin/hearth"), "preflight", "-s", stack, "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    found: dict[str, list[dict[str, Any]]] = {}
    for each in json.loads(done.stdout or "[]"):
        found.setdefault(each["check"], []).append(each)
    return done.returncode, found, done.stderr


def states(found: dict[str, list[dict[str, Any]]], check: str) -> set[str]:
    return {each["state"] for each in found[check]}


def lacking(code: int, found: dict[str, list[dict[str, Any]]]) -> set[str]:
    """The checks that refuse the cluster. The platform of the other tests may be in it, whose names are taken."""
    refusing = {check for check in found if "refused" in states(found, check)}
    assert code == (1 if refusing else 0)
    return refusing - {"names"}


@pytest.fixture
def limited(environment: dict[str, str], tmp_path: Any) -> dict[str, str]:
    """The identity that deploys."""
    return deployer(Kube(environment), tmp_path, environment)


def test_the_rights_of_the_documents_suffice_and_what_they_do_not_show_is_unknown(limited: dict[str, str]) -> None:
    code, found, said = hearth(limited)
    assert lacking(code, found) == set(), (found, said)
    assert states(found, "version") == states(found, "rights") == {"good"}
    assert "you may do all that a deployment does" in found["rights"][0]["what"]


def test_policies_are_seen_to_be_enforced_and_nothing_is_left(environment: dict[str, str]) -> None:
    kube = Kube(environment)
    code, found, said = hearth(environment, "--network", stack="local")
    assert lacking(code, found) == set(), (found, said)
    assert states(found, "network") == {"good"}
    assert found["rights"][0]["what"] == "you may do everything in this cluster"
    left = [n for n in kube.json("get", "namespaces")["items"] if n["metadata"]["name"].startswith("hearth-preflight-")]
    assert all("deletionTimestamp" in each["metadata"] for each in left)


def test_without_a_right_it_is_named(environment: dict[str, str], tmp_path: Any) -> None:
    """Somebody who may make everything but volumes and policies, and forward no port."""
    made = deployer(Kube(environment), tmp_path, environment, without=("persistentvolumeclaims", "pods/portforward"))
    code, found, _ = hearth(made)
    assert code == 1
    what = {each["what"] for each in found["rights"]}
    assert "you may not create, get pods/portforward in system-llm" in what
    assert "you may not get, watch, create, patch, delete persistentvolumeclaims in system-llm" in what
    assert len([each for each in what if "persistentvolumeclaims" not in each and "portforward" not in each]) == 0


def test_a_cluster_that_is_not_there_is_said(environment: dict[str, str], tmp_path: Any) -> None:
    config = json.loads(Kube(environment).run("config", "view", "--flatten", "--minify", "--raw", "-o", "json"))
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    file = tmp_path / "nobody"
    file.write_text(yaml.safe_dump(config))
    code, found, _ = hearth({**environment, "KUBECONFIG": str(file)})
    assert code == 1
    assert "does not answer" in found["cluster"][0]["what"]

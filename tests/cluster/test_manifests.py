"""Everything that `hearth render` writes is accepted by a real API server (server-side dry run)."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.platform import Platform
from tests.cluster.stack import ROOT

pytestmark = pytest.mark.cluster


def rendered(stack: str, folder: Path) -> list[dict[str, Any]]:
    command = [str(ROOT / ".venv/bin/hearth"), "render", "-s", stack, "-o", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [yaml.safe_load(path.read_text()) for path in sorted((folder / "manifests").glob("*.yaml"))]


@pytest.mark.parametrize("stack", ["local", "home", "dev", "production"])
def test_every_manifest_passes_a_server_side_dry_run(platform: Platform, stack: str, tmp_path: Path) -> None:
    manifests = rendered(stack, tmp_path / "out")
    namespaces = [m for m in manifests if m["kind"] == "Namespace"]
    others = [m for m in manifests if m["kind"] != "Namespace"]
    assert len(namespaces) >= 2
    assert len(others) >= 20
    # Names of their own, so that what is deployed is no part of it; the objects keep what their namespace asks of them.
    for manifest in namespaces:
        manifest["metadata"]["name"] = f"dry-{stack}-{manifest['metadata']['name']}"
    for manifest in others:
        manifest["metadata"]["namespace"] = f"dry-{stack}-{manifest['metadata']['namespace']}"
    platform.kube.apply(*namespaces)
    try:
        text = yaml.safe_dump_all(others)
        output = platform.kube.run(
            "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text
        )
        assert output.count("serverside-applied (server dry run)") == len(others)
    finally:
        names = [manifest["metadata"]["name"] for manifest in namespaces]
        platform.kube.run("delete", "namespace", *names, "--wait=false")


def test_the_pod_of_the_client_guide_is_admitted_in_a_tenants_namespace(platform: Platform) -> None:
    guide = (ROOT / "docs/client-guide.md").read_text(encoding="utf-8")
    text = next(part for part in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "kind: Pod" in part)
    pod = yaml.safe_load(text)
    pod["metadata"]["name"] = "of-the-guide"

    def admitted(manifest: dict[str, Any]) -> bool:
        shown = platform.kube.run(
            "create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump(manifest), check=False
        )
        return "pod/of-the-guide created (server dry run)" in shown

    assert admitted(pod)
    del pod["spec"]["securityContext"]
    assert not admitted(pod), "the namespace admits anything"

"""Everything that `hearth render` writes is accepted by a real API server (server-side dry run)."""

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

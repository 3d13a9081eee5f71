"""Secrets are where they belong and nowhere else (S3-40, S4-145)."""

import base64
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.claims import changed
from tests.cluster.platform import SCRIPTED_BEARER, Platform
from tests.cluster.stack import ROOT

pytestmark = pytest.mark.cluster


def all_secrets(platform: Platform) -> dict[str, str]:
    """Every secret value that the deployment made or was given, by where it is."""
    found = {"the scripted upstream's credential": SCRIPTED_BEARER}
    items = platform.kube.json("get", "secrets", "-A")["items"]
    for secret in items:
        namespace = secret["metadata"]["namespace"]
        if namespace != "system-llm" and not namespace.startswith("tenant-"):
            continue
        for key, value in secret.get("data", {}).items():
            text = base64.b64decode(value).decode(errors="replace")
            where = f"{namespace}/{secret['metadata']['name']}[{key}]"
            if key in {"tls.crt", "OPENAI_API_BASE", "OPENAI_API_BASE_URL", "OPENAI_BASE_URL", "tokens.map"}:
                continue
            if key == "valkey.conf":
                text = next(line.split()[1] for line in text.splitlines() if line.startswith("requirepass"))
            if key == "DATABASE_URL":
                text = text.split("://", 1)[1].split("@")[0].split(":", 1)[1]
            if key == "tls.key":
                text = text.splitlines()[1]
            if key == "runtime.map":
                text = text.split()[-1]
            found[where] = text.strip()
    assert len(found) >= 12
    assert min(len(value) for value in found.values()) >= 16, "each secret is long enough to be looked for"
    return found


def leaks(text: str, secrets: dict[str, str]) -> list[str]:
    return sorted(where for where, value in secrets.items() if value in text)


def test_the_search_finds_a_planted_secret(platform: Platform) -> None:
    secrets = all_secrets(platform)
    where, value = next(iter(secrets.items()))
    assert where in leaks(f"x{value}y", secrets)


def test_exported_state_holds_no_secret_in_the_clear(platform: Platform) -> None:
    state = platform.stack.export()
    assert "ciphertext" in state
    assert leaks(state, all_secrets(platform)) == []
    for where, value in all_secrets(platform).items():
        assert base64.b64encode(value.encode()).decode().rstrip("=") not in state, where


def test_logs_hold_no_secret(platform: Platform) -> None:
    secrets = all_secrets(platform)
    pods = platform.kube.json("get", "pods", "-A")["items"]
    read = 0
    for pod in pods:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        text = platform.kube.run("-n", namespace, "logs", name, "--all-containers", "--tail=20000", check=False)
        read += len(text)
        assert leaks(text, secrets) == [], f"{namespace}/{name}"
    assert read > 1000


def test_no_process_has_a_secret_in_its_arguments(platform: Platform) -> None:
    secrets = all_secrets(platform)
    update = subprocess.Popen(
        ["pulumi", "preview", "-s", "test", "--config-file", str(platform.stack.file), "--non-interactive"],
        cwd=ROOT,
        env={**os.environ, **platform.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    seen: set[str] = set()
    # The nodes are containers of this machine, so that its process table has their processes too.
    while update.poll() is None:
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.add(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
        # Without it this would keep one processor from what it watches.
        time.sleep(0.01)
    assert any("litellm" in line for line in seen)
    assert any("haproxy" in line for line in seen)
    assert leaks("\n".join(sorted(seen)), secrets) == []


def test_rendered_output_and_previews_hold_no_secret(platform: Platform, tmp_path: Path) -> None:
    secrets = all_secrets(platform)
    out = tmp_path / "rendered"
    command = [str(ROOT / ".venv/bin/hearth"), "render", "-f", str(platform.stack.file), "-o", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = "\n".join(path.read_text() for path in sorted(out.rglob("*")) if path.is_file())
    assert "kind: Deployment" in text or '"kind": "Deployment"' in text
    assert leaks(text, secrets) == []
    desk = changed(platform.claim, tenants={"visitors": {"apps": {"desk": {"llm": True}}}})
    preview = platform.stack.preview(desk)
    platform.stack.write(platform.claim)
    assert "visitors" in preview.stdout
    assert leaks(preview.stdout + preview.stderr, secrets) == []


def test_pods_see_no_more_secrets_than_they_need(platform: Platform) -> None:
    """LiteLLM never sees an endpoint's credential; only the guard does (C-3)."""
    secrets = all_secrets(platform)
    credentials = {where: secrets[where] for where in secrets if where.startswith("system-llm/llm-endpoint-")}
    token = {where: secrets[where] for where in secrets if where.endswith("[MANAGEMENT_TOKEN]")}
    assert token
    names = {where.partition("[")[2] for where in credentials}
    assert {"scripted.gateway]", "ENDPOINT_CREDENTIAL_GEMMA]"} <= names
    for pod in platform.kube.pods("system-llm", "hearth.dev/role=gateway"):
        spec = pod["spec"]
        litellm = next(container for container in spec["containers"] if container["name"] == "litellm")
        assert of_secrets(litellm) == {"LITELLM_MASTER_KEY", "LITELLM_SALT_KEY", "DATABASE_URL", "REDIS_PASSWORD"}
        volumes = {volume["name"] for volume in spec["volumes"] if "secret" in json.dumps(volume).lower()}
        assert not volumes & {mounted["name"] for mounted in litellm["volumeMounts"]}
        environment = platform.kube.execute(
            "system-llm", pod["metadata"]["name"], "cat", "/proc/1/environ", container="litellm"
        )
        assert "LITELLM_MASTER_KEY=" in environment
        assert leaks(environment, {**credentials, **token}) == []
        mounted = json.dumps([volume.get("secret", volume.get("projected")) for volume in spec["volumes"]])
        assert "llm-endpoint-credentials" not in mounted
    guards = platform.kube.pods("system-llm", "hearth.dev/role=guard")
    assert len(guards) == 2
    for pod in guards:
        [guard] = pod["spec"]["containers"]
        assert {"ENDPOINT_CREDENTIAL_SCRIPTED", "ENDPOINT_CREDENTIAL_GEMMA"} <= of_secrets(guard)
        assert not of_secrets(guard) & {"LITELLM_MASTER_KEY", "LITELLM_SALT_KEY", "DATABASE_URL", "REDIS_PASSWORD"}


def of_secrets(container: dict[str, Any]) -> set[str]:
    """Names of a container's environment variables whose value is a Secret's."""
    assert "envFrom" not in container
    return {variable["name"] for variable in container["env"] if "secretKeyRef" in variable.get("valueFrom", {})}

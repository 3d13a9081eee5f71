"""From one configuration and release to the next, and back when the next one does not come up (issue 4)."""

import hashlib
import io
import os
import re
import tarfile
from pathlib import Path

import pytest

from tests.support.edge import EdgeHost, ephemeral, play

CLAIM = "site/stacks/Pulumi.edge.yaml"
UNIT = "hearth-sidecar-llama-debian13"
SIDECAR = "/etc/hearth/sidecar/llama-debian13"


def edit_claim(old: str, new: str) -> None:
    file = ephemeral() / CLAIM
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def answers(host: EdgeHost) -> bool:
    with host.sidecars[0].client() as client:
        answer = client.chat.completions.create(
            model="gemma3-270m", messages=[{"role": "user", "content": "Hello"}], max_tokens=2
        )
    return bool(answer.choices)


@pytest.fixture
def next_release(tmp_path: Path) -> tuple[Path, str]:
    """The same runtime in an archive with another digest, as another release would be."""
    cache = Path(os.environ.get("HEARTH_CACHE") or Path.home() / ".cache/hearth")
    target = tmp_path / "next.tar"
    with tarfile.open(cache / "edge/llama-cpp.tar.gz") as old, tarfile.open(target, "w") as new:
        for member in old:
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
        note = tarfile.TarInfo("llama-next/NOTES")
        note.size = 4
        new.addfile(note, io.BytesIO(b"next"))
    return target, hashlib.sha256(target.read_bytes()).hexdigest()


def test_a_new_configuration(edge_host: EdgeHost) -> None:
    before = edge_host.sidecars[0].get("/sidecar/identity").json()
    pid = edge_host.run(f"systemctl show -P MainPID {UNIT}")
    edit_claim("maxQueuedRequests: 2", "maxQueuedRequests: 3")

    check = play("playbooks/edge.yml", "--check", "--diff")
    assert "+    server runtime 127.0.0.1:8081 maxconn 2 maxqueue 3" in check.stdout, "the diff is not the change"
    assert "-    server runtime 127.0.0.1:8081 maxconn 2 maxqueue 2" in check.stdout
    assert edge_host.sidecars[0].get("/sidecar/identity").json() == before, "check mode changed the host"

    play("playbooks/edge.yml")
    after = edge_host.sidecars[0].get("/sidecar/identity").json()
    assert after["configSha256"] == edge_host.sidecars[0].config_sha256 != before["configSha256"]
    assert after["certificate"] == before["certificate"]
    assert edge_host.run(f"systemctl show -P MainPID {UNIT}") == pid, "a reload was enough"
    assert answers(edge_host)
    again = play("playbooks/edge.yml", "-e", "hearth_full=true").stdout
    assert "changed=0" in again
    # the digests that a host is asked for are those of what the roles would write
    assert not re.search(r"TASK \[.*: (Write the unit|Write the rules|Make the folders of the roles)\]", again)


def test_a_configuration_that_is_not_taken_up_is_taken_back(edge_host: EdgeHost) -> None:
    """A process that never gets the signal to reload: the identity goes on showing the old configuration."""
    release = edge_host.run(f"readlink {SIDECAR}/current")
    edge_host.run("mv /usr/bin/kill /usr/bin/kill.away && ln -s true /usr/bin/kill")
    edit_claim("maxQueuedRequests: 3", "maxQueuedRequests: 4")
    try:
        found = play("playbooks/edge.yml", "-e", "tls_sidecar_verify_retries=2", check=False)
        assert found.returncode != 0
        assert "the one before is restored" in found.stdout
        assert edge_host.run(f"readlink {SIDECAR}/current") == release
        assert answers(edge_host)
    finally:
        edit_claim("maxQueuedRequests: 4", "maxQueuedRequests: 3")
        edge_host.run("mv /usr/bin/kill.away /usr/bin/kill")


def test_a_new_release(edge_host: EdgeHost, next_release: tuple[Path, str]) -> None:
    archive, digest = next_release
    arguments = ["-e", f"llama_cpp_archive_file={archive}", "-e", f"llama_cpp_archive_sha256={digest}"]
    old = edge_host.run("ls /opt/hearth/llama-cpp")
    play("playbooks/edge.yml", *arguments, "-e", "llama_cpp_version=next")
    new = edge_host.run("ls /opt/hearth/llama-cpp")
    assert new == f"next-{digest[:12]}", "the release that nothing uses any more is still there"
    assert new != old
    assert answers(edge_host)
    pid = edge_host.run("systemctl show -P MainPID hearth-llama-cpp-llama-debian13")
    assert new in edge_host.run(f"tr '\\0' ' ' </proc/{pid}/cmdline")
    again = play("playbooks/edge.yml", *arguments, "-e", "llama_cpp_version=next", "-e", "hearth_full=true")
    assert "changed=0" in again.stdout

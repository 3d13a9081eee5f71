"""What the preflight finds out with the scripts of roles/common, on a made-up host."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

FILES = Path(__file__).parents[3] / "roles/common/files"
OURS = "# Managed by Ansible (hearth.edge); changes are overwritten.\n"
NEW = "hearth-ollama-box.service"


class Host:
    """A folder in which the absolute paths of a script lie, and a stand-in for `ss`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.units = folder / "etc/systemd/system"
        self.units.mkdir(parents=True)
        (folder / "bin").mkdir()
        (folder / "bin/ss").write_text("#!/bin/sh\n")
        (folder / "bin/ss").chmod(0o755)

    def listens(self, port: int, address: str, unit: str) -> None:
        process = self.folder / f"proc/{port}"
        process.mkdir(parents=True)
        (process / "cgroup").write_text(f"0::/system.slice/{unit}\n")
        (process / "comm").write_text("program\n")
        line = f'LISTEN 0 128 {address}:{port} 0.0.0.0:* users:(("program",pid={port},fd=3))'
        with (self.folder / "bin/ss").open("a") as file:
            file.write(f"echo '{line}'\n")

    def run(
        self, scripts: Sequence[str], arguments: Sequence[str | Path], paths: Sequence[str], end: str = ""
    ) -> list[str]:
        """Run scripts as one, with these paths moved into the folder."""
        text = "\n".join([*((FILES / name).read_text(encoding="utf-8") for name in scripts), end])
        for path in paths:
            text = text.replace(path, f"{self.folder}{path.split()[0]}")
        environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin"}
        found = subprocess.run(
            ["sh", "-c", text, "sh", *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return found.stdout.replace(str(self.folder), "").splitlines()

    def listening(self) -> list[str]:
        return sorted(self.run(["listening.sh"], [], ["/proc/"], "listening"))

    def probe(self, *pairs: str) -> list[str]:
        found = self.run(["listening.sh", "probe.sh"], ["0", "0", *pairs], ["/proc/", "/etc/systemd/", "/run/systemd/"])
        return [line for line in found if not line.startswith("ahead=")]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_an_older_unit_of_the_roles_may_be_displaced(host: Host) -> None:
    host.listens(8081, "127.0.0.1", "hearth-llama-cpp-box.service")
    (host.units / "hearth-llama-cpp-box.service").write_text(OURS)
    assert host.probe(f"8081:{NEW}") == [f"displaced={NEW} hearth-llama-cpp-box.service"]
    # not when the host is to keep it
    found = host.probe(f"8081:{NEW}", "8082:hearth-llama-cpp-box.service")
    assert found == [f"taken={NEW} port 8081 is in use by program (process 8081, hearth-llama-cpp-box.service)"]


def test_a_unit_of_somebody_else_is_not_displaced(host: Host) -> None:
    host.listens(8081, "127.0.0.1", "hearth-llama-cpp-box.service")
    (host.units / "hearth-llama-cpp-box.service").write_text("[Service]\n")
    assert f"taken={NEW} port 8081" in host.probe(f"8081:{NEW}")[0]


def test_settings_that_somebody_added(host: Host) -> None:
    for file in ("10-hardening.conf", "30-limits.conf", "override.conf"):
        (host.units / f"{NEW}.d").mkdir(exist_ok=True)
        (host.units / f"{NEW}.d" / file).touch()
    (host.folder / f"run/systemd/system/{NEW}.d").mkdir(parents=True)
    (host.folder / f"run/systemd/system/{NEW}.d/10-hardening.conf").touch()
    assert host.probe(f"8081:{NEW}") == [
        f"settings=/etc/systemd/system/{NEW}.d/override.conf",
        f"settings=/run/systemd/system/{NEW}.d/10-hardening.conf",
    ]


def test_who_listens_where(host: Host) -> None:
    host.listens(8081, "127.0.0.1", NEW)
    host.listens(8082, "[::1]", NEW)
    host.listens(8083, "[::ffff:127.0.0.1]", NEW)
    host.listens(9000, "0.0.0.0", NEW)
    host.listens(9001, "[::]", "")
    assert host.listening() == [
        f"0.0.0.0:9000 network 9000 {NEW}",
        f"127.0.0.1:8081 loopback 8081 {NEW}",
        "[::1]:8082 loopback 8082 hearth-ollama-box.service",
        "[::]:9001 network 9001 -",
        f"[::ffff:127.0.0.1]:8083 loopback 8083 {NEW}",
    ]


def unreadable(host: Host, file: Path) -> list[str]:
    found = host.run(["unreadable.sh"], [file], ["/home /root /run/user /tmp /var/tmp"])
    # the folders above the tests' own are closed
    return [line for line in found if line.startswith("lies below") or "(/srv" in line]


def test_a_model_that_no_service_may_read(host: Host) -> None:
    model = host.folder / "srv/models/model.gguf"
    model.parent.mkdir(parents=True)
    model.touch(mode=0o644)
    for folder in (model.parent, model.parent.parent):
        folder.chmod(0o755)
    assert unreadable(host, model) == []
    model.chmod(0o640)
    assert unreadable(host, model) == ["may not be read by others (/srv/models/model.gguf)"]
    model.chmod(0o644)
    model.parent.chmod(0o750)
    assert unreadable(host, model) == ["lies in a folder that others may not enter (/srv/models)"]


def test_a_model_that_units_do_not_see(host: Host) -> None:
    """Wherever a link to it lies."""
    home = host.folder / "home/somebody"
    home.mkdir(parents=True)
    for folder in (home, home.parent):
        folder.chmod(0o755)
    (home / "model.gguf").touch(mode=0o644)
    link = host.folder / "model.gguf"
    link.symlink_to(home / "model.gguf")
    assert unreadable(host, link) == ["lies below /home, which the units do not see"]


def test_a_clock_is_judged_by_the_moment_that_its_host_was_asked(host: Host) -> None:
    def ahead(now: int) -> int:
        (line,) = [
            line
            for line in host.run(["listening.sh", "probe.sh"], ["0", str(now)], ["/proc/"])
            if line.startswith("ahead=")
        ]
        return int(line.removeprefix("ahead="))

    assert abs(ahead(int(time.time()))) <= 60
    assert abs(ahead(int(time.time()) + 1000) + 1000) <= 60

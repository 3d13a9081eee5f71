"""What an installation of packages would bring, and what becomes of them when the host is taken out, with stand-ins."""

import hashlib
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PLANNED = (ROOT / "roles/common/files/planned.sh").read_text(encoding="utf-8")
UNNEEDED = (ROOT / "playbooks/files/unneeded.sh").read_text(encoding="utf-8")

DPKG_QUERY = """
last() { for word; do :; done; echo "$word"; }
case $* in
  *--listfiles*) cat "$HOST/$(last "$@").files" 2>/dev/null ;;
  *Conffiles*) cat "$HOST/$(last "$@").settings" 2>/dev/null ;;
  *Package*) shift 3; for name; do echo "installed $name"; done ;;
  *) cat "$HOST/$(last "$@").state" 2>/dev/null || exit 1 ;;
esac
"""


class Host:
    """A PATH of stand-ins, and a folder in which absolute paths lie."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bin", "var/lib/hearth", "var/lib/apt/lists", "etc"):
            (folder / name).mkdir(parents=True)
        (folder / "var/lib/apt/lists/a_Packages").touch()
        self.program("dpkg-query", DPKG_QUERY)
        self.program("dpkg", "echo amd64")
        self.program("systemctl", 'grep -qsx "$*" "$HOST/systemctl" && echo "${1#is-}" | sed s/active/active/')
        self.program("apt-cache", "echo")

    def program(self, name: str, text: str) -> None:
        file = self.folder / "bin" / name
        file.write_text(f"#!/bin/sh\nHOST={self.folder}\n{text}\n")
        file.chmod(0o755)

    def run(self, script: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        text = script.replace("/var/lib/", f"{self.folder}/var/lib/")
        environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "TMPDIR": str(self.folder)}
        return subprocess.run(
            ["sh", "-c", text, "sh", *arguments], env=environment, capture_output=True, text=True, check=check
        )

    def brought(self, *lines: str) -> None:
        (self.folder / "var/lib/hearth/packages").write_text("".join(f"{line}\n" for line in lines))
        names = [line.split()[0] for line in lines]
        self.program("apt-get", "".join(f"echo Remv {name} [1]\n" for name in names))

    def setting(self, package: str, *, changed: bool = False) -> Path:
        file = self.folder / "etc" / f"{package}.conf"
        file.write_text("as it came\n")
        digest = hashlib.md5(file.read_bytes()).hexdigest()
        (self.folder / f"{package}.settings").write_text(f"\n {file} {digest}\n")
        if changed:
            file.write_text("the operator's own\n")
        return file

    def unneeded(self) -> list[str]:
        return self.run(UNNEEDED).stdout.splitlines()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_what_would_be_brought(host: Host) -> None:
    host.program("apt-get", "echo 'Inst haproxy (2.6)'; echo 'Inst libc6 [2.36] (2.37)'; echo 'Inst nftables (1.0)'")
    (host.folder / "nftables.state").write_text("config-files")
    assert host.run(PLANNED, "1", "haproxy").stdout.splitlines() == ["haproxy", "nftables config-files"]


def test_a_plan_that_fails_is_a_failure(host: Host) -> None:
    """Else the packages would be installed, and nobody would know that the roles brought them."""
    host.program("apt-get", "echo broken >&2; exit 100")
    found = host.run(PLANNED, "1", "haproxy", check=False)
    assert found.returncode != 0
    assert "broken" in found.stderr


def test_what_nothing_needs_goes_with_the_settings_that_came_with_it(host: Host) -> None:
    host.brought("haproxy", "zstd")
    host.setting("haproxy")
    assert host.unneeded() == ["purge=haproxy", "purge=zstd"]


def test_settings_that_somebody_changed_stay(host: Host) -> None:
    host.brought("haproxy")
    file = host.setting("haproxy", changed=True)
    assert host.unneeded() == [f"remove=haproxy ({file})"]


def test_settings_that_were_there_before_stay(host: Host) -> None:
    """An operator had removed the package and left its settings."""
    host.brought("nftables config-files")
    file = host.setting("nftables")
    assert host.unneeded() == [f"remove=nftables ({file})"]


@pytest.mark.parametrize("asked", ["is-active haproxy.service", "is-enabled haproxy.service"])
def test_a_package_whose_service_somebody_turned_on_stays(host: Host, asked: str) -> None:
    host.brought("haproxy", "zstd")
    (host.folder / "haproxy.files").write_text("/usr/sbin/haproxy\n/lib/systemd/system/haproxy.service\n")
    host.program("systemctl", f'[ "$*" = "{asked}" ] && case $1 in is-active) echo active ;; *) echo enabled ;; esac')
    assert host.unneeded() == ["used=haproxy (haproxy.service)", "purge=zstd"]

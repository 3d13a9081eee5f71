"""playbooks/files/orphans.sh: which units are the roles' own."""

import subprocess
from pathlib import Path

SCRIPT = (Path(__file__).parents[3] / "playbooks/files/orphans.sh").read_text(encoding="utf-8")
OURS = "# Managed by Ansible (hearth.edge); changes are overwritten.\n[Unit]\n"


def orphans(folder: Path, *kept: str) -> list[str]:
    script = SCRIPT.replace("/etc/", f"{folder}/etc/")
    found = subprocess.run(["sh", "-c", script, "orphans", *kept], capture_output=True, text=True, check=True)
    return found.stdout.replace(str(folder), "").splitlines()


def test_only_units_of_the_roles(tmp_path: Path) -> None:
    units = tmp_path / "etc/systemd/system"
    (units / "hearth-sidecar-one.service.d").mkdir(parents=True)
    (tmp_path / "etc/hearth/sidecar/one").mkdir(parents=True)
    for name in ("hearth-sidecar-one", "hearth-ollama-two", "hearth-firewall", "hearth-monitor"):
        (units / f"{name}.service").write_text(OURS)
    (units / "hearth-llama-cpp-theirs.service").write_text("[Unit]\nDescription=somebody else's\n")
    (units / "hearth-fire-alarm.service").write_text("[Unit]\n")
    assert orphans(tmp_path, "hearth-firewall.service", "hearth-ollama-two.service") == [
        "unit=hearth-sidecar-one.service",
        "path=/etc/hearth/sidecar/one",
        "path=/etc/systemd/system/hearth-sidecar-one.service.d",
        "path=/etc/systemd/system/hearth-sidecar-one.service",
    ]
    assert [line for line in orphans(tmp_path) if line.startswith("unit=")] == [
        "unit=hearth-sidecar-one.service",
        "unit=hearth-ollama-two.service",
        "unit=hearth-firewall.service",
    ]


def test_what_belongs_to_another_kind_of_unit_stays(tmp_path: Path) -> None:
    """An endpoint may have the name of a unit."""
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    (units / "hearth-ollama-x.service").write_text(OURS)
    (tmp_path / "etc/hearth/sidecar/hearth-ollama-x").mkdir(parents=True)
    assert orphans(tmp_path) == ["unit=hearth-ollama-x.service", "path=/etc/systemd/system/hearth-ollama-x.service"]

"""The unit that loads the firewall has a place in the boot of every host."""

import shutil
import subprocess
from pathlib import Path

UNIT = Path(__file__).parents[3] / "roles/edge_firewall/files/hearth-firewall.service"
EARLY = (
    "[Unit]\nDefaultDependencies=no\nAfter=network-pre.target\nBefore=sysinit.target\n[Service]\nExecStart=/bin/true\n"
)


def test_no_ordering_cycle_with_what_waits_for_the_network_early(tmp_path: Path) -> None:
    """As cloud-init does; systemd breaks a cycle by leaving one of its units out."""
    assert shutil.which("systemd-analyze") is not None, "this test needs systemd-analyze: install systemd"
    (tmp_path / "early.service").write_text(EARLY)
    (tmp_path / UNIT.name).write_text(UNIT.read_text())
    wanted_by = UNIT.read_text().rpartition("WantedBy=")[2].strip()
    for target, unit in (("sysinit.target", "early.service"), (wanted_by, UNIT.name)):
        folder = tmp_path / f"{target}.wants"
        folder.mkdir(exist_ok=True)
        (folder / unit).symlink_to(tmp_path / unit)
    found = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "multi-user.target"],
        env={"SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
    )
    assert "ordering cycle" not in found.stderr

"""remove.yml leaves a host as it was, and says so truthfully before (issue 4)."""

import difflib

from tests.support.edge import ROOT, EdgeHost, play


def picture(host: EdgeHost, name: str) -> list[str]:
    script = (ROOT / "molecule/shared/files/picture.sh").read_text()
    host.run("sh -c %s picture %s", script, f"/root/{name}")
    return host.run(f"cat /root/{name}").splitlines()


def test_everything_goes_and_nothing_else(edge_host: EdgeHost) -> None:
    before = edge_host.run("cat /root/before").splitlines()
    installed = picture(edge_host, "after")
    assert any("hearth-sidecar" in line for line in installed), (
        "nothing is installed, so that removing it proves nothing"
    )

    play("playbooks/remove.yml", "--check")
    assert picture(edge_host, "after") == installed, "check mode changed the host"

    play("playbooks/remove.yml")
    left = [line for line in difflib.ndiff(before, picture(edge_host, "after")) if line[0] in "+-"]
    assert left == []
    again = play("playbooks/remove.yml")
    assert "changed=0" in again.stdout


def test_models_are_kept_on_request(edge_host: EdgeHost) -> None:
    edge_host.run("mkdir -p /var/lib/hearth/models && touch /var/lib/hearth/models/a.gguf")
    play("playbooks/remove.yml", "-e", "hearth_keep_models=true")
    assert edge_host.inside.file("/var/lib/hearth/models/a.gguf").exists
    play("playbooks/remove.yml")
    assert not edge_host.inside.file("/var/lib/hearth").exists

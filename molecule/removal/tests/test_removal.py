"""remove.yml leaves a host as it was, and says so truthfully before (issue 4)."""

import difflib
import re

from tests.support.edge import ROOT, EdgeHost, play
from tests.support.hostile import undone

STUBBORN = (
    "cd /usr/local/sbin && printf '#!/bin/sh\\ncase \"$*\" in *purge*) exit 100 ;; esac\\n' >apt-get "
    "&& echo 'exec /usr/bin/apt-get \"$@\"' >>apt-get && chmod 755 apt-get"
)
"""An apt-get that does not purge, as while another program holds dpkg's lock."""


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

    shown = play("playbooks/remove.yml", "--check").stdout
    assert re.search("would purge: .*haproxy", shown)
    assert picture(edge_host, "after") == installed, "check mode changed the host"

    # somebody else's program needs a library by now that came with the runtime
    edge_host.run("DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends pngquant")
    with undone(edge_host, STUBBORN, "rm /usr/local/sbin/apt-get"):
        assert play("playbooks/remove.yml", check=False).returncode != 0
    said = play("playbooks/remove.yml").stdout
    assert "libgomp1 (libimagequant0), and it stays" in " ".join(said.split())
    edge_host.run("pngquant --version")
    assert edge_host.inside.service("hearth-monitor").is_running, "a unit of somebody else was stopped"
    edge_host.run("apt-get purge --yes --autoremove pngquant")
    left = [line for line in difflib.ndiff(before, picture(edge_host, "after")) if line[0] in "+-"]
    assert left == []
    again = play("playbooks/remove.yml")
    assert "changed=0" in again.stdout

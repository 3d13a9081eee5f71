"""remove.yml leaves a host as it was, and says so truthfully before (issue 4)."""

import difflib
import re

from tests.support.edge import ROOT, EdgeHost, play
from tests.support.hostile import refused, undone

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
    """What an operator uses of it by now stays: HAProxy's own service, settings of nftables, a library."""
    before = edge_host.run("cat /root/before").splitlines()
    edge_host.run("systemctl enable haproxy.service && echo '# own rules' >>/etc/nftables.conf")
    assert "changed=0" in play("playbooks/edge.yml").stdout
    edge_host.run("systemctl is-enabled haproxy.service")
    installed = picture(edge_host, "after")
    assert any("hearth-sidecar" in line for line in installed), (
        "nothing is installed, so that removing it proves nothing"
    )

    shown = " ".join(play("playbooks/remove.yml", "--check").stdout.split())
    assert "haproxy (haproxy.service), and it stays with its settings" in shown
    assert "nftables (/etc/nftables.conf): the package goes, and these settings stay" in shown
    assert re.search(r"would purge: [^;]*\bzstd|would purge: [^;]*\blibgomp1", shown)
    assert not re.search(r"would purge: [^;]*\b(haproxy|nftables)\b", shown)
    assert picture(edge_host, "after") == installed, "check mode changed the host"

    # somebody else's program needs a library by now that came with the runtime
    edge_host.run("DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends pngquant")
    with undone(edge_host, STUBBORN, "rm /usr/local/sbin/apt-get"):
        assert play("playbooks/remove.yml", check=False).returncode != 0
    said = play("playbooks/remove.yml").stdout
    assert "libgomp1 (libimagequant0), and it stays" in " ".join(said.split())
    edge_host.run("pngquant --version && systemctl is-enabled haproxy.service")
    assert not edge_host.inside.file("/usr/sbin/nft").exists
    assert edge_host.run("tail -n 1 /etc/nftables.conf") == "# own rules"
    assert edge_host.inside.service("hearth-monitor").is_running, "a unit of somebody else was stopped"
    edge_host.run("systemctl disable haproxy.service && apt-get purge --yes --autoremove pngquant haproxy nftables")
    left = [line for line in difflib.ndiff(before, picture(edge_host, "after")) if line[0] in "+-"]
    assert left == []
    again = play("playbooks/remove.yml")
    assert "changed=0" in again.stdout


def test_the_first_run_shuts_nothing_that_nobody_agreed_to(edge_host: EdgeHost) -> None:
    """The host is bare, and somebody's site is on port 80."""
    site = "systemd-run --quiet --unit=site python3 -m http.server 80 && sleep 1"
    with undone(edge_host, site, "systemctl stop site.service"):
        message = refused(edge_host, "-e", '{"edge_firewall_shut": ["81/tcp"]}')
        assert "the firewall would shut 80/tcp (python3), which the network reaches now" in message
        assert "edge_firewall_shut, such as [80/tcp]" in message
        shown = play("playbooks/edge.yml", "--check", "-e", '{"edge_firewall_shut": ["80/tcp"]}').stdout
        assert "80/tcp" not in shown

"""The host is installed again while another package manager is at work, as on one that has just booted; and removed."""

from tests.support.edge import EdgeHost, ephemeral, play
from tests.support.hostile import undone

HOLD = """
import fcntl, time
held = [open("/var/lib/" + name, "w") for name in ("apt/lists/lock", "dpkg/lock-frontend")]
for file in held:
    fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
for file in held:
    time.sleep({seconds})
    file.close()
"""
"""Each lock ends {seconds} after the one before it."""


def another(host: EdgeHost, seconds: int) -> str:
    """Return the command that starts another package manager, and comes back when that has the locks."""
    host.run("printf %%s %s >/root/hold.py", HOLD.format(seconds=seconds))
    host.run("rm -f /var/lib/apt/lists/*Packages*")  # or they would be new enough
    return (
        "systemd-run --quiet --unit=updates --property=StandardOutput=file:/run/updates python3 /root/hold.py; "
        "for _ in $(seq 50); do grep -qs held /run/updates && exit 0; sleep 0.2; done; exit 1"
    )


def test_an_installation_waits_for_its_end(edge_host: EdgeHost) -> None:
    assert not edge_host.inside.file("/usr/sbin/haproxy").exists, "nothing is to be installed, so that nothing waits"
    end = "systemctl stop updates; rm -f /run/updates /root/hold.py"
    with undone(edge_host, another(edge_host, 600), end):
        found = play("playbooks/edge.yml", "-e", "common_lock_seconds=1", check=False)
        assert found.returncode != 0
        said = " ".join(found.stdout.split("could not be installed:")[-1].split())
        assert "It is held by process" in said
        assert "Let another package manager come to its end" in said
    with undone(edge_host, another(edge_host, 8), end):
        shown = play("playbooks/edge.yml", "-vvv", "--diff").stdout
    assert edge_host.sidecars[0].get("/sidecar/health").status == 200
    no_secret_is_shown(shown)


def no_secret_is_shown(shown: str) -> None:
    """Everything secret was made or written anew, with the most talkative output there is."""
    secrets = [file.read_text().strip() for file in (ephemeral() / "state/credentials").iterdir()]
    assert len(secrets) == 2
    for secret in [*secrets, "a passphrase of the scenarios alone", "PRIVATE KEY"]:
        assert secret not in shown


def test_models_are_kept_on_request(edge_host: EdgeHost) -> None:
    edge_host.run("mkdir -p /var/lib/hearth/models && touch /var/lib/hearth/models/a.gguf")
    play("playbooks/remove.yml", "-e", "hearth_keep_models=true")
    assert edge_host.inside.file("/var/lib/hearth/models/a.gguf").exists
    for brought in ("/usr/sbin/haproxy", "/etc/haproxy/haproxy.cfg", "/usr/sbin/nft", "/etc/nftables.conf"):
        assert not edge_host.inside.file(brought).exists, brought
    play("playbooks/remove.yml")
    assert not edge_host.inside.file("/var/lib/hearth").exists

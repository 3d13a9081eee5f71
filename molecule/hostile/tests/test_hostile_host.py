"""What only the host itself can have wrong: who connects to it, who else filters, and what was done to its units."""

from collections.abc import Iterator

import pytest

from tests.support.edge import EdgeHost, ephemeral, play
from tests.support.hostile import refused, undone

RUNTIME = "hearth-llama-cpp-llama-debian12"


@pytest.fixture
def as_operator(edge_host: EdgeHost) -> Iterator[tuple[str, ...]]:
    """The arguments of an operator who is not root and has sudo, as on any host that forbids root's logins."""
    edge_host.run(
        "useradd --create-home ops && printf 'ops ALL=(ALL) NOPASSWD: ALL\\n' >/etc/sudoers.d/ops "
        "&& install -d -o ops -m 700 /home/ops/.ssh "
        "&& install -o ops -m 600 /root/.ssh/authorized_keys /home/ops/.ssh/authorized_keys"
    )
    yield ("-e", "ansible_user=ops")
    edge_host.run("pkill -u ops; userdel --remove ops; rm /etc/sudoers.d/ops")


def test_an_operator_with_sudo_is_not_shut_out_either(edge_host: EdgeHost, as_operator: tuple[str, ...]) -> None:
    message = refused(edge_host, *as_operator, "-e", '{edge_firewall_ssh_sources: ["203.0.113.0/24"]}')
    assert "edge_firewall_ssh_sources does not hold" in message
    exporter = "systemd-run --quiet --unit=exporter python3 -m http.server 9100 && sleep 1"
    with undone(edge_host, exporter, "systemctl stop exporter.service"):
        shown = play("playbooks/edge.yml", *as_operator).stdout
    assert "changed=0" in shown
    assert "lets nobody reach 9100/tcp (python3)" in " ".join(shown.split())
    assert " dport 0 " not in edge_host.run("cat /etc/hearth/firewall.nft")


def test_a_range_that_is_none(edge_host: EdgeHost) -> None:
    message = refused(edge_host, "-e", '{edge_firewall_ssh_sources: ["192.168.1.0/33"]}')
    assert "192.168.1.0/33 is no address range" in message


def test_everything_that_is_wrong_is_said_at_once(edge_host: EdgeHost) -> None:
    folder = f"/etc/systemd/system/{RUNTIME}.service.d"
    with undone(edge_host, f"printf '[Service]\\n' >{folder}/override.conf", f"rm {folder}/override.conf"):
        message = refused(
            edge_host, "-e", '{edge_firewall_ssh_sources: ["192.168.1.0/33"], common_free_bytes: 999999999999999}'
        )
    assert "192.168.1.0/33 is no address range" in message
    assert f"{folder}/override.conf changes a unit of the roles" in message
    assert "less than 953674316 MiB are free in" in message


def test_a_model_where_no_unit_looks(edge_host: EdgeHost) -> None:
    claim = ephemeral() / "site/stacks/Pulumi.edge.yaml"
    text = claim.read_text()
    try:
        claim.write_text(text.replace("/srv/models/model.gguf", "/home/model.gguf"))
        with undone(edge_host, "cp /srv/models/model.gguf /home/ && chmod 644 /home/model.gguf", "rm /home/model.gguf"):
            message = refused(edge_host)
    finally:
        claim.write_text(text)
    assert "lies below /home, which the units do not see" in message
    assert "/srv/models" in message


def test_a_runtime_of_hearth_is_not_somebody_elses(edge_host: EdgeHost) -> None:
    message = refused(edge_host, "-e", "hearth_existing_runtime=true")
    assert f"nothing listens but {RUNTIME}.service of Hearth itself" in message


def processes(host: EdgeHost) -> tuple[str, str]:
    """Return the runtime's arguments and the sidecar's process."""
    runtime = host.run(f"xargs -0 echo </proc/$(systemctl show -P MainPID {RUNTIME})/cmdline")
    return runtime, host.run("systemctl show -P MainPID hearth-sidecar-llama-debian12")


def test_a_unit_that_somebody_edited_and_started(edge_host: EdgeHost) -> None:
    """What runs is what is written, and nothing else is restarted for it."""
    file = f"/etc/systemd/system/{RUNTIME}.service"
    before = processes(edge_host)
    restart = f"systemctl daemon-reload && systemctl restart {RUNTIME}"
    edge_host.run(f"cp -p {file} /root/kept && sed -i 's/--parallel 2/--parallel 1/' {file} && {restart}")
    # undone, but not in what runs
    edge_host.run(f"cp -p /root/kept {file} && rm /root/kept && systemctl daemon-reload")
    assert processes(edge_host) != before
    play("playbooks/edge.yml")
    assert processes(edge_host) == before


@pytest.mark.usefixtures("edge_host")
def test_a_runtime_that_listens_elsewhere() -> None:
    found = play("playbooks/edge.yml", "-e", '{llama_cpp_arguments: ["--host", "0.0.0.0"]}', check=False)
    assert found.returncode != 0
    assert f"{RUNTIME}.service listens at 0.0.0.0:8081" in " ".join(found.stdout.split())
    play("playbooks/edge.yml")

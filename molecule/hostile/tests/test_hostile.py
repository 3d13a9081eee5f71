"""What can be wrong with a host: one message that names host, cause and remedy, and the host as it was (issue 4)."""

from pathlib import Path

import pytest
from cryptography import x509

from tests.support.edge import CHAT, EdgeHost, ephemeral, on_control_host, play
from tests.support.hostile import refused, undone
from tests.support.pki import Authority
from tests.wire.client import wait_for

NAME = "debian12.edge.test"
UNIT = "hearth-sidecar-llama-debian12"
SIDECAR = "/etc/hearth/sidecar/llama-debian12"


def serves(host: EdgeHost) -> bool:
    return all(endpoint.get("/sidecar/health").status == 200 for endpoint in host.sidecars)


def without_credential(host: EdgeHost) -> int:
    return host.sidecars[0].server().request("POST", CHAT, b"{}", {"Content-Type": "application/json"}).status


def test_an_edited_configuration(edge_host: EdgeHost) -> None:
    """An edit that runs is named, and thrown away together with its effect: the set keeps its name (S4-82)."""
    config = f"{SIDECAR}/current/sidecar.cfg"
    edge_host.run(f"sed -i '/unless {{ var(txn.credential) -m found }}/d' {config} && systemctl reload {UNIT}")
    assert wait_for(lambda: without_credential(edge_host) != 401), "the edit had no effect, so that nothing is tested"
    message = refused(edge_host)
    assert config in message
    assert "not as the role wrote it" in message
    assert "tls_sidecar_replace_edited=true" in message
    assert serves(edge_host)
    play("playbooks/edge.yml", "-e", "tls_sidecar_replace_edited=true")
    assert without_credential(edge_host) == 401
    assert "changed=0" in play("playbooks/edge.yml").stdout


def test_a_token_of_another_control_host(edge_host: EdgeHost) -> None:
    """Replacing the gateway's token has to be said, also to check mode; of a missing one test_together.py says more."""
    file = ephemeral() / "state/credentials/llama-debian12.workload"
    kept = file.read_text()
    try:
        file.write_text("x" * 43)
        assert "does not accept the token" in refused(edge_host, "--check")
        shown = play("playbooks/edge.yml", "--check", "-e", "tls_sidecar_replace_tokens=true").stdout
        assert "would bring configuration" in shown
    finally:
        file.write_text(kept)
    assert serves(edge_host)


def test_a_release_that_would_run_on_the_processor(edge_host: EdgeHost) -> None:
    """The driver is there, and the archive has nothing for a GPU."""
    with undone(edge_host, "touch /dev/nvidiactl", "rm /dev/nvidiactl"):
        message = refused(edge_host, "-e", "llama_cpp_gpu=nvidia")
    assert "finds no GPU" in message
    assert "llama_cpp_archive_url" in message


def test_check_mode_says_that_the_table_is_missing_and_a_release_is_not_needed(edge_host: EdgeHost) -> None:
    with undone(
        edge_host,
        "nft delete table inet hearth_edge && mkdir /opt/hearth/llama-cpp/old",
        "systemctl reload hearth-firewall && rmdir /opt/hearth/llama-cpp/old",
    ):
        shown = play("playbooks/edge.yml", "--check").stdout
        assert "would load the table inet hearth_edge" in shown
        assert "changed=2" in shown
        assert "hearth_edge" not in edge_host.run("nft list tables")


CHECK = """\
- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: hearth.edge.tls_sidecar, tasks_from: certificate}
  vars:
    tls_sidecar_plan: {endpoint: llama, host: debian12.edge.test, trust_bundle: site-ca}
    tls_sidecar_bundle_file: "{{ folder }}/bundle.pem"
    tls_sidecar_certificate: "{{ lookup('file', folder ~ '/' ~ inventory_hostname ~ '.pem') }}"
    tls_sidecar_private_key: "{{ lookup('file', folder ~ '/' ~ inventory_hostname ~ '.key') }}"
    __tls_sidecar_certificate: "{{ tls_sidecar_certificate }}"
"""


def test_every_certificate_that_would_not_work_says_why(tmp_path: Path) -> None:
    """The check is the control host's own, so that each case is a host of one run that connects to none."""
    site, own = Authority("site CA"), x509.DNSName(NAME)
    good, other = site.issue(own), site.issue(own)
    cases = {
        "good": (good, ""),
        "key": ((good[0], other[1]), "does not belong to its private key"),
        "keyless": ((good[0], "no key"), "has a private key that cannot be read"),
        "expired": (site.issue(own, days=-1), "ended at"),
        "name": (site.issue(x509.DNSName("other.edge.test")), f"does not carry the name DNS:{NAME}"),
        "foreign": (Authority("another CA").issue(own), "does not verify against the trust bundle site-ca"),
        "none": (("no certificate", good[1]), "cannot be read"),
    }
    (tmp_path / "bundle.pem").write_text(site.pem)
    for name, ((certificate, key), _) in cases.items():
        (tmp_path / f"{name}.pem").write_text(certificate)
        (tmp_path / f"{name}.key").write_text(key)
    shown = on_control_host(tmp_path, CHECK, cases)
    assert "PRIVATE KEY" not in shown
    for name, (_, cause) in cases.items():
        (recap,) = [line for line in shown.split("PLAY RECAP")[1].splitlines() if line.startswith(f"{name} ")]
        assert ("failed=0" in recap) == (cause == ""), recap
        if cause:
            message = " ".join(shown.split(f"fatal: [{name}]")[1].split("fatal: [")[0].replace("''", "'").split())
            assert f"{name}: the certificate of llama {cause}" in message


def test_an_archive_that_is_not_the_declared_one(edge_host: EdgeHost) -> None:
    found = play("playbooks/edge.yml", "-e", f"llama_cpp_archive_sha256={'0' * 64}", check=False)
    assert "not the declared 0000" in found.stdout
    assert "changed=0" in found.stdout
    assert serves(edge_host)


def test_a_certificate_is_due_and_the_passphrase_is_missing(
    edge_host: EdgeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_CA_PASSPHRASE", "")
    message = refused(edge_host, "-e", "local_ca_renew_days=120")
    assert "the present one ends at" in message
    assert "Set HEARTH_CA_PASSPHRASE" in message


def test_another_firewall(edge_host: EdgeHost) -> None:
    """A mock of ufw that says that it is active: the real one needs kernel modules that no container has.

    Tables of nftables are not looked for beside it.
    """
    with undone(
        edge_host,
        "printf '#!/bin/sh\\necho Status: active\\n' >/usr/local/sbin/ufw && chmod 755 /usr/local/sbin/ufw",
        "rm /usr/local/sbin/ufw",
    ):
        message = refused(edge_host)
    assert "ufw is active" in message
    assert "edge_firewall_enabled: false" in message


def test_a_host_that_the_claim_does_not_know(edge_host: EdgeHost) -> None:
    message = refused(edge_host, "-e", "hearth_endpoint=nobody")
    assert "hearth:endpoints.nobody: is not in the claim" in message


def test_a_system_that_is_not_supported(edge_host: EdgeHost) -> None:
    with undone(
        edge_host,
        "cp /usr/lib/os-release /run/kept && sed -i 's/bookworm/sid/' /usr/lib/os-release",
        "cp /run/kept /usr/lib/os-release",
    ):
        message = refused(edge_host)
    assert "Use Debian 12, Debian 13 or Ubuntu 24.04" in message


def test_a_model_server_of_somebody_else_that_is_not_there_or_is_open(edge_host: EdgeHost) -> None:
    """The host's own runtime plays the part of one that somebody else runs (S1-10)."""
    existing = ("-e", "hearth_existing_runtime=true")
    unit = "hearth-llama-cpp-llama-debian12"
    with undone(edge_host, f"systemctl stop {unit}", f"systemctl start {unit}"):
        assert "nothing listens" in refused(edge_host, *existing)
    server = f"python3 -m http.server --bind {edge_host.address} 8081"
    with undone(edge_host, f"systemd-run --quiet --unit=open {server} && sleep 1", "systemctl stop open.service"):
        assert "where the network can reach it past the sidecar" in refused(edge_host, *existing)

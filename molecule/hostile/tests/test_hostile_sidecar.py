"""What can be wrong with a sidecar's files, its certificate and the way to it (issue 4)."""

import pytest
from cryptography import x509

from tests.support.edge import CHAT, EdgeHost, play
from tests.support.pki import Authority


def said(output: str) -> str:
    return " ".join(output.replace("''", "'").split())  # as the YAML output quotes and breaks lines


def current(host: EdgeHost) -> str:
    return f"/etc/hearth/sidecar/{host.sidecars[0].name}/current"


def unit(host: EdgeHost) -> str:
    return f"hearth-sidecar-{host.sidecars[0].name}.service"


def open_to_everybody(host: EdgeHost) -> None:
    """Edit the running sidecar so that it asks for no credential, as a hasty administrator could."""
    config = f"{current(host)}/sidecar.cfg"
    host.run(f"cp {config} /root/kept && sed -i '/unless {{ var(txn.credential) -m found }}/d' {config}")
    host.run(f"systemctl reload {unit(host)}")
    assert without_credential(host) != 401, "the edit had no effect, so that nothing is tested"


def without_credential(host: EdgeHost) -> int:
    return host.sidecars[0].server().request("POST", CHAT, b"{}", {"Content-Type": "application/json"}).status


def test_an_edit_that_was_taken_back_by_hand_no_longer_runs(edge_host: EdgeHost) -> None:
    open_to_everybody(edge_host)
    edge_host.run(f"cat /root/kept >{current(edge_host)}/sidecar.cfg && rm /root/kept")
    assert without_credential(edge_host) != 401
    shown = said(play("playbooks/edge.yml", "--check").stdout)
    assert f"would reload {unit(edge_host)}" in shown
    assert without_credential(edge_host) != 401, "check mode changed the host"
    play("playbooks/edge.yml")
    assert without_credential(edge_host) == 401
    assert "changed=0" in play("playbooks/edge.yml").stdout


def test_check_mode_says_that_an_ended_certificate_would_be_renewed(edge_host: EdgeHost) -> None:
    """The host's certificate has ended: a real run issues one, so that check mode does not refuse the old one."""
    folder = current(edge_host)
    certificate, key = Authority("long ago").issue(x509.DNSName(edge_host.sidecars[0].host), days=-1)
    edge_host.run(f"cp -a {folder}/. /root/kept")
    try:
        for name, text in (("tls.crt", certificate), ("tls.key", key)):
            edge_host.run(f"printf %%s %s >{folder}/{name}", text)
        edge_host.run(f"cd {folder} && sha256sum $(ls | grep -v SHA256SUMS) >SHA256SUMS")
        found = said(play("playbooks/edge.yml", "--check").stdout)
        assert f"would issue a certificate for DNS:{edge_host.sidecars[0].host}: the present one ends at" in found
    finally:
        edge_host.run(f"cp -a /root/kept/. {folder}/ && rm -r /root/kept")


def test_a_wrong_passphrase_is_named_before_anything_changes(
    edge_host: EdgeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_CA_PASSPHRASE", "not the passphrase of the authority")
    found = play("playbooks/edge.yml", "-e", "local_ca_renew_days=120", check=False)
    assert found.returncode != 0
    assert "changed=0" in found.stdout
    text = said(found.stdout)
    assert f"{edge_host.name}: a certificate has to be issued (the present one ends at" in text
    assert "HEARTH_CA_PASSPHRASE does not open the key" in text
    assert "censored" not in text


def test_a_sidecar_that_only_the_control_host_does_not_reach_stays(edge_host: EdgeHost) -> None:
    """The inventory's address is that of a bastion, say: the configuration is good, and is not taken back."""
    release = edge_host.run(f"readlink {current(edge_host)}")
    elsewhere = ("-e", "tls_sidecar_verify_address=127.0.0.99", "-e", "tls_sidecar_verify_retries=2")
    found = play("playbooks/edge.yml", *elsewhere, check=False)
    text = said(found.stdout)
    assert found.returncode != 0
    assert "cannot be reached from localhost at 127.0.0.99 port 8443" in text
    assert "tls_sidecar_verify_address" in text
    assert "tls_sidecar_verify_delegate" in text
    assert "restored" not in text
    assert edge_host.run(f"readlink {current(edge_host)}") == release
    inside = ("-e", "tls_sidecar_verify_address=127.0.0.1", "-e", f"tls_sidecar_verify_delegate={edge_host.name}")
    assert "changed=0" in play("playbooks/edge.yml", *inside).stdout

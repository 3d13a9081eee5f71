"""Faults that do not hide each other: a host that has all of them hears of each in one run, with its remedy."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509

from tests.support.edge import EdgeHost, ephemeral, hosts
from tests.support.hostile import picture, refused, undone
from tests.support.pki import Authority
from tests.wire.client import wait_for

NAME = "debian12.edge.test"
SIDECAR, RUNTIME = "hearth-sidecar-llama-debian12", "hearth-llama-cpp-llama-debian12"
ADDED = "/etc/hearth/sidecar/llama-debian12/current/extra.cfg"
SETTINGS = f"/etc/systemd/system/{RUNTIME}.service.d/override.conf"
LISTENING = "until ss -Hltn | grep -q :{}; do sleep 0.1; done"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a host."""

    said: tuple[str, ...]
    """What the refusal says of it."""
    come: str = "true"
    go: str = "true"
    """How it comes and goes on the host; some are of the control host."""


FAULTS = {
    "an added file": Fault((ADDED, "not as the role wrote it"), f"touch {ADDED}", f"rm {ADDED}"),
    # `date` is replaced, because a container has the clock of its machine
    "a wrong clock": Fault(
        ("behind the control host's", "timedatectl set-ntp true"),
        "printf '#!/bin/sh\\necho 1000000000\\n' >/usr/local/bin/date && chmod 755 /usr/local/bin/date",
        "rm /usr/local/bin/date",
    ),
    "the sidecar's port is another program's": Fault(
        ("port 8443 is in use by python3", "squatter.service"),
        f"systemctl stop {SIDECAR} && systemd-run --quiet --unit=squatter python3 -m http.server 8443 && "
        f"{LISTENING.format(8443)}",
        f"systemctl stop squatter.service; systemctl start {SIDECAR}",
    ),
    "the runtime's port is another program's": Fault(
        ("port 8081 is in use by python3", "hearth_existing_runtime: true"),
        f"systemctl stop {RUNTIME} && systemd-run --quiet --unit=own python3 -m http.server --bind 127.0.0.1 8081 && "
        f"{LISTENING.format(8081)}",
        f"systemctl stop own.service; systemctl start {RUNTIME}",
    ),
    "a full disk": Fault(
        ("MiB are free in /var/lib/hearth",),
        "mount -t tmpfs -o size=64k tmpfs /var/lib/hearth",
        "umount /var/lib/hearth",
    ),
    "somebody else's rules that drop by default": Fault(
        ("the nftables table inet own", "edge_firewall_enabled: false"),
        "nft 'table inet own { chain input { type filter hook input priority 0; policy drop; accept; }; }'",
        "nft delete table inet own",
    ),
    "settings that somebody added to a unit": Fault(
        (f"{SETTINGS} changes a unit of the roles",), f"printf '[Service]\\n' >{SETTINGS}", f"rm {SETTINGS}"
    ),
    "rules that would shut the control host out": Fault(("edge_firewall_ssh_sources does not hold",)),
    "a certificate of another authority": Fault(("does not verify against the trust bundle edge-ca",)),
    "a model that is not the declared one": Fault(("/srv/models/model.gguf has the digest sha256:",)),
    "no token on the control host": Fault(
        (
            "does not accept the token credential://llama-debian12/workload of this control host",
            "tls_sidecar_replace_tokens=true",
        )
    ),
}


@pytest.fixture(autouse=True)
def host_as_it_was() -> None:
    """The run of `message` alone touches the host, and sees that it is as it was."""


@pytest.fixture(scope="module")
def message(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the run says of a host with all of them."""
    (host,) = hosts()
    folder, before = tmp_path_factory.mktemp("together"), picture(host)
    certificate, key = Authority("somebody else's CA").issue(x509.DNSName(NAME))
    (folder / "certificate.pem").write_text(certificate)
    (folder / "key.pem").write_text(key)
    variables = {"hearth_certificate": "certificate.pem", "hearth_certificate_key": "key.pem"}
    arguments = [f"{{{name}: \"{{{{ lookup('file', '{folder / file}') }}}}\"}}" for name, file in variables.items()]
    arguments.append('{edge_firewall_ssh_sources: ["203.0.113.0/24"]}')
    claim, token = (ephemeral() / file for file in CHANGED)
    kept = {file: file.read_text() for file in (claim, token)}
    digest = kept[claim].split("digest: ", 1)[1].split("}")[0]
    come = " && ".join(fault.come for fault in FAULTS.values())
    # with the last that came gone first
    go = "; ".join(fault.go for fault in reversed(FAULTS.values()))
    try:
        claim.write_text(kept[claim].replace(digest, '"sha256:' + "0" * 64 + '"'))
        token.unlink()
        with undone(host, come, go):
            said = refused(host, *(word for argument in arguments for word in ("-e", argument)))
            assert not token.exists(), "a missing token was made meanwhile"
    finally:
        for file, text in kept.items():
            file.write_text(text)
    assert all(wait_for(sidecar.is_healthy, 120) for sidecar in host.sidecars)
    assert picture(host) == before
    return said


CHANGED = (Path("site/stacks/Pulumi.edge.yaml"), Path("state/credentials/llama-debian12.workload"))
"""Claim and token, which are of the control host."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_beside_the_others(fault: str, message: str) -> None:
    missing = [text for text in FAULTS[fault].said if text not in message]
    assert not missing, message


def test_no_secret_is_in_the_refusal(message: str) -> None:
    assert "PRIVATE KEY" not in message


def test_the_host_serves_as_before(edge_host: EdgeHost, message: str) -> None:
    assert message
    assert all(endpoint.get("/sidecar/health").status == 200 for endpoint in edge_host.sidecars)

"""The look before the roles: it says nothing after a run, and everything that the roles would find."""

import json
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

import pytest

from tests.support.edge import EdgeHost, ephemeral, hosts, play
from tests.support.look import Drift, Seen, Step, drift, looks

RECORD = "/var/lib/hearth/converged.json"
OF_THE_SYSTEM = (
    "/etc/.pwd.lock",
    "/etc/.updated",
    "/etc/group",
    "/etc/gshadow",
    "/etc/ld.so.cache",
    "/etc/machine-id",
    "/etc/passwd",
    "/etc/rc",
    "/etc/shadow",
    "/etc/ssh/ssh_host_",
    "/etc/subgid",
    "/etc/subuid",
    "/root/",
    "/srv/models/model.gguf",
    "/run/",
    "/tmp/",  # noqa: S108
    "/var/.updated",
    "/var/cache/",
    "/var/lib/apt/",
    "/var/lib/dbus/",
    "/var/lib/dpkg/",
    "/var/lib/haproxy/",
    "/var/lib/private",
    "/var/lib/systemd/",
    "/var/log/",
    "/var/tmp/",  # noqa: S108
)
"""What a running system and its package manager write by themselves."""


@pytest.fixture(scope="module")
def written() -> dict[str, list[str]]:
    """Every path on each host that neither its image nor a package nor the system itself has brought."""
    found = {}
    for host in hosts():
        container = f"hearth-edge-{os.environ['MOLECULE_SCENARIO_NAME']}-{host.name.split('.')[0]}"
        shown = subprocess.run(["podman", "diff", "--format", "json", container], check=True, capture_output=True)
        added = [path for path in json.loads(shown.stdout)["added"] if not path.startswith(OF_THE_SYSTEM)]
        # a list of names, because there are more of them than an argument may be long
        host.run(f"cat >/root/added <<'END'\n{chr(10).join(added)}\nEND\n")
        known = "cat /var/lib/dpkg/info/*.list /var/lib/dpkg/info/*.conffiles | sort -u >/root/packaged"
        # a package of today's Debian names some of its files below /lib
        host.run(f"{known}; sed 's,^/lib/,/usr/lib/,' /root/packaged | sort -u -o /root/packaged")
        own = host.run("grep -vxFf /root/packaged /root/added | grep -v '^/usr/' || true").splitlines()
        host.run("rm /root/added /root/packaged")
        found[host.name] = sorted(path for path in own if path != "/srv/models" and path != RECORD)
    return found


def recorded(host: EdgeHost) -> dict[str, str]:
    state: dict[str, str] = json.loads(host.run(f"cat {RECORD}"))["state"]
    return state


def regular(host: EdgeHost, paths: Sequence[str]) -> list[str]:
    tests = "\n".join(f"[ -f {path} ] && [ ! -L {path} ] && echo {path}" for path in map(shlex.quote, paths))
    return host.run(f"sh -s <<'END'\n{tests}\ntrue\nEND\n").splitlines()


def on_all(commands: Mapping[str, str]) -> None:
    for host in hosts():
        host.run(f"sh -eu -s <<'END'\n{commands[host.name]}\nEND\n")


def named(found: Drift, wanted: Mapping[str, Sequence[str]]) -> None:
    """See that of each host everything is named that is wanted."""
    for name, texts in wanted.items():
        missing = [text for text in texts if not any(text in line for line in found[name])]
        assert not missing, (missing, found[name])


SILENT = {"debian12.edge.test": [], "debian13.edge.test": []}
"""What is found where everything is as the last whole run left it."""


def test_a_run_after_a_run_only_looks_and_the_roles_would_change_nothing() -> None:
    short = play("playbooks/edge.yml").stdout
    assert short.count("changed=0") == 2
    assert "converge.yml" not in short
    assert short.count("its certificate") == 2
    long = play("playbooks/edge.yml", "-e", "hearth_full=true").stdout
    assert long.count("changed=0") == 2
    assert "converge.yml" in long


def test_every_path_that_the_roles_wrote_is_looked_at(written: dict[str, list[str]]) -> None:
    for host in hosts():
        assert len(written[host.name]) > 40, written
        known = recorded(host)
        assert [path for path in written[host.name] if f"file {path}" not in known] == []


# with the length and the time of what was there
CONTENT = (
    "cp -p {0} /root/kept{1} && printf X | dd of={0} bs=1 conv=notrunc status=none; touch -r /root/kept{1} {0}",
    "cp -p /root/kept{1} {0} && rm /root/kept{1}",
)
CHANGES = {
    "content": CONTENT,
    "mode": ("stat -c %a {0} >/root/mode{1} && chmod o+w {0}", "chmod $(cat /root/mode{1}) {0} && rm /root/mode{1}"),
    "owner": ("stat -c %u {0} >/root/owner{1} && chown 1 {0}", "chown $(cat /root/owner{1}) {0} && rm /root/owner{1}"),
    "gone": ("mv {0} /root/away{1}", "mv /root/away{1} {0}"),
}
"""What may happen to a file, and how it is undone."""


@pytest.fixture(scope="module")
def files(written: dict[str, list[str]]) -> dict[str, list[str]]:
    """The files of each host that are changed, all at once."""
    found = {}
    for host in hosts():
        # a large one is of a release, which a run goes by its mark of; nothing can be changed in an empty one
        small = host.run("find /etc /opt/hearth /var/lib/hearth -xdev -type f -size -1024k -size +0").splitlines()
        found[host.name] = sorted(set(regular(host, written[host.name])) & set(small))
        assert len(found[host.name]) > 20
    return found


def of_every_file(files: Mapping[str, Sequence[str]], command: str) -> dict[str, str]:
    return {
        name: "\n".join(command.format(path, number) for number, path in enumerate(map(shlex.quote, paths)))
        for name, paths in files.items()
    }


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_any_file(change: str, files: dict[str, list[str]], seen: dict[str, Seen]) -> None:
    """All files at once: each of them is named by itself."""
    named(seen[change].found, {name: [f"file {path}: " for path in paths] for name, paths in files.items()})
    assert seen[change].after == SILENT


def units(host: EdgeHost) -> list[str]:
    names = [*(one.unit for one in host.plan.runtimes), *(one.unit for one in host.plan.sidecars)]
    return [f"{name}.service" for name in names]


TOGETHER = {
    "a unit that stands still": (
        "systemctl stop {runtime}",
        "systemctl start {runtime}",
        "unit {runtime}: ActiveState=inactive",
    ),
    "units that no boot starts": (
        "systemctl disable --quiet {runtime} {sidecar}",
        "systemctl enable --quiet {runtime} {sidecar}",
        "unit {sidecar}: ",
    ),
    "an added file": (
        "touch /etc/hearth/sidecar/{endpoint}/current/x.cfg",
        "rm /etc/hearth/sidecar/{endpoint}/current/x.cfg",
        "x.cfg",
    ),
    "a release that nothing uses": (
        "mkdir /opt/hearth/llama-cpp/old",
        "rmdir /opt/hearth/llama-cpp/old",
        "llama-cpp/old: new",
    ),
    "a unit of an endpoint that left": (
        "printf '# Managed by Ansible (hearth.edge)\\n' >/etc/systemd/system/hearth-ollama-old.service",
        "rm /etc/systemd/system/hearth-ollama-old.service",
        "units of endpoints that left: unit=hearth-ollama-old.service",
    ),
    "settings of somebody else": (
        "mkdir -p /run/systemd/system/{runtime}.d && touch /run/systemd/system/{runtime}.d/own.conf",
        "rm -r /run/systemd/system/{runtime}.d",
        "the host: settings=",
    ),
    "another firewall": (
        "nft 'table inet own {{ chain input {{ type filter hook input priority 0; policy drop; accept; }}; }}'",
        "nft delete table inet own",
        "the firewall: foreign=",
    ),
    "a wrong clock": (
        "printf '#!/bin/sh\\necho 1000000000\\n' >/usr/local/bin/date && chmod 755 /usr/local/bin/date",
        "rm /usr/local/bin/date",
        "the host: its clock is -",
    ),
    "another model": (
        "mount --bind /etc/hostname /srv/models/model.gguf",
        "umount /srv/models/model.gguf",
        "file /srv/models/model.gguf: changed",
    ),
    "a model that nobody may read": (
        "chmod 700 /srv/models",
        "chmod 755 /srv/models",
        "who may read /srv/models/model.gguf: ",
    ),
    "a package in another version": (
        "cp -p /var/lib/dpkg/status /root/status && "
        "sed -i '/^Package: haproxy$/,/^Version:/s/^Version: .*/Version: 9:1/' /var/lib/dpkg/status",
        "mv /root/status /var/lib/dpkg/status",
        "package haproxy: changed",
    ),
    "another distribution": (
        "cp /usr/lib/os-release /run/kept && sed -i s/Debian/other/ /usr/lib/os-release",
        "cp /run/kept /usr/lib/os-release",
        "the distribution: changed",
    ),
    "another user": (
        "usermod --shell /bin/sh hearth-llama-cpp",
        "usermod --shell /usr/sbin/nologin hearth-llama-cpp",
        "user hearth-llama-cpp: changed",
    ),
    "an installation that did not end": (
        "touch /var/lib/hearth/packages.new",
        "rm /var/lib/hearth/packages.new",
        "packages.new: new",
    ),
}
"""Faults that do not hide each other. By what is wrong: how it comes, how it goes, and what the look says."""

ALONE = {
    "no rules": (
        "nft delete table inet hearth_edge",
        "systemctl reload hearth-firewall",
        "the firewall: the kernel has other rules",
    ),
    "other rules": (
        "nft insert rule inet hearth_edge input tcp dport 8081 accept",
        "systemctl reload hearth-firewall",
        "the firewall: the kernel has other rules",
    ),
    "a port that somebody else has": (
        "systemctl stop {sidecar} && systemd-run --quiet --unit=squatter python3 -m http.server 8443 && "
        "until ss -Hltn | grep -q :8443; do sleep 0.1; done",
        "systemctl stop squatter; systemctl start {sidecar}",
        "the host: taken=",
    ),
    "a service that the rules do not know": (
        "nft delete table inet hearth_edge; systemd-run --quiet --unit=own python3 -m http.server 9100 && "
        "until ss -Hltn | grep -q :9100; do sleep 0.1; done",
        "systemctl stop own; systemctl reload hearth-firewall",
        "the firewall: 9100/tcp (python3) is reached",
    ),
    "a full disk": (
        "mount -t tmpfs -o size=64k tmpfs /var/lib/hearth",
        "umount /var/lib/hearth",
        "the host: full=/var/lib/hearth",
    ),
    "no record": (f"mv {RECORD} /root/record", f"mv /root/record {RECORD}", "no whole run has left its record here"),
    "half a record": (
        f"cp -p {RECORD} /root/record && truncate -s 500 {RECORD}",
        f"mv /root/record {RECORD}",
        "no whole run has left its record here",
    ),
}
"""Faults that another would hide, likewise."""


def known(host: EdgeHost) -> dict[str, str]:
    runtime, sidecar = units(host)
    return {"runtime": runtime, "sidecar": sidecar, "endpoint": host.endpoints[0]}


def filled(*commands: str) -> dict[str, str]:
    return {host.name: "\n".join(command.format(**known(host)) for command in commands) for host in hosts()}


@pytest.fixture(scope="module")
def seen(files: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    """What the looks of one play say of each fault, and after it is gone."""
    steps = {name: Step(of_every_file(files, come), of_every_file(files, go)) for name, (come, go) in CHANGES.items()}
    # with the last that came gone first
    back = [go for _, go, _ in reversed(TOGETHER.values())]
    steps["together"] = Step(filled(*(come for come, _, _ in TOGETHER.values())), filled(*back))
    steps |= {name: Step(filled(come), filled(go)) for name, (come, go, _) in ALONE.items()}
    kept, away = ephemeral() / "state/credentials", ephemeral() / "state/away"
    move, back_again = f"mv {shlex.quote(str(kept))} {shlex.quote(str(away))}", f"mv {away} {kept}"
    steps["no tokens"] = Step(here=(move, back_again))
    steps["another address"] = Step(variables={"tls_sidecar_verify_address": "127.0.0.1"})
    return looks(tmp_path_factory.mktemp("looks"), steps)


@pytest.mark.parametrize("fault", TOGETHER)
def test_faults_are_named_each(fault: str, seen: dict[str, Seen]) -> None:
    text = TOGETHER[fault][2]
    named(seen["together"].found, {host.name: [text.format(**known(host))] for host in hosts()})
    assert seen["together"].after == SILENT


@pytest.mark.parametrize("fault", ALONE)
def test_a_fault(fault: str, seen: dict[str, Seen]) -> None:
    text = ALONE[fault][2]
    named(seen[fault].found, {host.name: [text.format(**known(host))] for host in hosts()})
    assert seen[fault].after == SILENT


def test_a_token_that_is_not_on_the_control_host(seen: dict[str, Seen]) -> None:
    of_host = {host.name: f"the token {host.endpoints[0]}/workload: it is not on this control host" for host in hosts()}
    named(seen["no tokens"].found, {name: [text] for name, text in of_host.items()})
    assert seen["no tokens"].after == SILENT


def test_a_sidecar_that_the_network_does_not_reach(seen: dict[str, Seen]) -> None:
    assert all(lines for lines in seen["another address"].found.values())
    assert seen["another address"].after == SILENT


@pytest.fixture(scope="module")
def site_changed(tmp_path_factory: pytest.TempPathFactory) -> Drift:
    """What is said when much has changed on the control host: claim, tokens, variables, the authority's days."""
    claim = ephemeral() / "site/stacks/Pulumi.edge.yaml"
    tokens = sorted((ephemeral() / "state/credentials").glob("*.workload"))
    kept = {file: file.read_text() for file in (claim, *tokens)}
    assert "maxQueuedRequests: 2" in kept[claim]
    variables = ["local_ca_renew_days=100", "edge_firewall_shut=['80/tcp']", "local_ca_warn_days=4000"]
    try:
        claim.write_text(kept[claim].replace("maxQueuedRequests: 2", "maxQueuedRequests: 3"))
        for file in tokens:
            file.write_text("x" * 43)
        arguments = [word for variable in (*variables, "local_ca_renew=true") for word in ("-e", variable)]
        return drift(tmp_path_factory.mktemp("site"), *arguments)
    finally:
        for file, text in kept.items():
            file.write_text(text)


def test_another_claim_token_or_variable(site_changed: Drift) -> None:
    words = " on the control host since the last whole run"
    for host in hosts():
        name = host.endpoints[0]
        wanted = [f"the claim: changed{words}", f"the token {name}/workload: changed{words}"]
        wanted += [f"the certificate of {name}: it ends soon", f"the variable edge_firewall_shut: new{words}"]
        named(site_changed, {host.name: wanted})


def test_another_certificate_or_an_authority_that_ends(site_changed: Drift) -> None:
    """Which would be asked for by name, by time, or because the authority is another one."""
    for host in hosts():
        name = host.endpoints[0]
        wanted = [f"the certificate of {name}: its authority ends", f"the certificate of {name}: a new one"]
        named(site_changed, {host.name: wanted})


def test_check_mode_finds_the_same_and_changes_nothing() -> None:
    before = [host.run(f"cat {RECORD}") for host in hosts()]
    on_all({host.name: "nft delete table inet hearth_edge" for host in hosts()})
    try:
        shown = play("playbooks/edge.yml", "--check").stdout
    finally:
        on_all({host.name: "systemctl reload hearth-firewall" for host in hosts()})
    assert shown.count("would load the table inet hearth_edge") == 2
    assert [host.run(f"cat {RECORD}") for host in hosts()] == before
    assert play("playbooks/edge.yml").stdout.count("changed=0") == 2

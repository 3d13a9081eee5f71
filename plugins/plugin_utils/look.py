"""What the look at a host reads, and what of the answers gives the roles something to do.

The questions are those of the roles, out of the same files. A text that is returned here names a reason to run the
roles; it is never a refusal, for that is what the roles say.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hearth.edge.plugins.filter.shut_ports import shut_ports
from ansible_collections.hearth.edge.plugins.lookup.certificate import TIME, read

COLLECTION = Path(__file__).resolve().parents[2]
PREFIXES = ("hearth_", "common_", "edge_firewall_", "llama_cpp_", "ollama_", "tls_sidecar_", "local_ca_")
"""Beginnings of the variables that decide over the roles; those of a role's own have two underscores before them."""
CONNECTION = ("ansible_port", "ansible_connection")
"""Variables of Ansible itself that decide over the firewall."""
UNREAD = {
    # how a step is done and where something comes from, and never whether
    "common_airgap_directory",
    "common_cache_directory",
    "common_lock_seconds",
    "common_proxy",
    "llama_cpp_archive_file",
    "llama_cpp_archive_url",
    "ollama_archive_file",
    "ollama_archive_url",
    "local_ca_passphrase",
    "tls_sidecar_verify_address",
    "tls_sidecar_verify_retries",
    # where claim, tokens and authorities lie, which are read themselves
    "common_state_directory",
    "hearth_environment",
    "hearth_project",
    "hearth_state_directory",
    "local_ca_directory",
    # only where the look finds an edit or another token they have something to say
    "tls_sidecar_replace_edited",
    "tls_sidecar_replace_tokens",
    # of the run and not of the host
    "hearth_full",
    "hearth_hosts",
    "hearth_serial",
    # the tokens of other hosts are in it too; those of this one are read by name
    "hearth_credentials",
}
"""Variables that decide over nothing while the look finds nothing."""
SET_BY_PLAYBOOK = {"hearth_folder", "hearth_look", "hearth_misspelt", "hearth_plan", "hearth_runtime_is_there"}
"""Variables that are what the others and the claim make of them."""
USERS = ("hearth-sidecar", "hearth-llama-cpp", "hearth-ollama")
PACKAGES = ("haproxy", "libgomp1", "libstdc++6", "nftables", "zstd")
TREES = (
    "/etc/hearth",
    "/opt/hearth",
    "/var/lib/hearth",
    "/etc/systemd/system/hearth-*",
    "/etc/systemd/system/*.wants/hearth-*",
    "/run/hearth-*/revision",
    "/run/hearth-*/loaded",
)
"""Everything that the roles write lies below one of these."""
SSH_CONNECTIONS = ("ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh", "ansible.builtin.paramiko_ssh")


_DEVICES = """\
devices() {{
{}
}}
program=$(sed -n 's/^ExecStart=\\([^ ]*\\).*/\\1/p' "/etc/systemd/system/$1.service")
(devices "$program" "$2") 2>&1 | sed -n 's/^ *\\([A-Za-z]*[0-9]*:\\).*/\\1/p'
"""
"""Names the devices that the program of a unit finds; how much of their memory is free changes all the time."""


@dataclass(frozen=True)
class Look:
    """What is looked at on one host."""

    plan: Mapping[str, Any]
    """Its plan, as `hearth.edge.host_plan` returns it."""
    existing: bool
    """Whether somebody else runs the model servers."""
    options: Mapping[str, Any]
    """Options of the roles by name, with their defaults."""
    now: float
    """The control host's time, in seconds of the epoch."""

    @property
    def runtimes(self) -> Sequence[Mapping[str, Any]]:
        """The model servers that the roles run."""
        return [] if self.existing else self.plan["runtimes"]

    @property
    def units(self) -> list[str]:
        """Every unit of the roles that the host is to have."""
        firewall = ["hearth-firewall"] if self.options["edge_firewall_enabled"] else []
        return [f"{name}.service" for name in [*firewall, *self.own]]

    @property
    def own(self) -> list[str]:
        """The units that runtimes and sidecars are, without `.service`."""
        return [one["unit"] for one in [*self.runtimes, *self.plan["sidecars"]]]


def script(role: str, name: str) -> str:
    """Return a program of a role."""
    return (COLLECTION / "roles" / role / "files" / name).read_text(encoding="utf-8")


def shell(text: str, *arguments: str) -> list[str]:
    """Return the call of a shell program."""
    return ["/bin/sh", "-c", text, "look", *arguments]


def python(text: str, *arguments: str) -> list[str]:
    """Return the call of a Python program."""
    return ["/usr/bin/python3", "-I", "-c", text, *arguments]


def questions(look: Look) -> dict[str, dict[str, Any]]:
    """Return what is asked, by name; the lines in which `compared` is found have to be those of the last whole run."""
    options, plan = look.options, look.plan
    listening = script("common", "listening.sh")
    planned = [(one["port"], one["unit"]) for one in [*plan["sidecars"], *look.runtimes]]
    ports = "|".join(str(one["port"]) for one in [*plan["sidecars"], *plan["runtimes"]])
    allowed = [*plan["open_ports"], *options["edge_firewall_allowed"]]
    ranges = [source for one in allowed for source in one.get("sources") or []]
    asked: dict[str, tuple[list[str], str]] = {
        "the host": (
            shell(
                f"{listening}\n{script('common', 'probe.sh')}",
                str(options["common_free_bytes"]),
                str(int(look.now)),
                *(f"{port}:{unit}.service" for port, unit in planned),
            ),
            "",
        ),
        "who listens": (
            shell(f"{listening}\nlistening | cut -d ' ' -f 1,2,4"),
            rf" network hearth-|:({ports}) ",
        ),
        "the firewall": (
            python(script("edge_firewall", "probe.py"), *ranges, "--", *options["edge_firewall_ssh_sources"]),
            "^(ssh|table|open)=",
        ),
        "the rules": (
            shell(
                f"{script('edge_firewall', 'rules.sh')}\nrules | cmp -s - /var/lib/hearth/firewall.sha256 && echo same"
            ),
            "",
        ),
        "units of endpoints that left": (
            shell(
                (COLLECTION / "playbooks/files/orphans.sh").read_text(encoding="utf-8"),
                "hearth-firewall.service",
                *look.units,
            ),
            "",
        ),
    }
    for unit in look.own:
        asked[f"what {unit} was started with"] = (shell(script("common", "started.sh"), unit), "")
    for one in plan["sidecars"]:
        folder = f"/etc/hearth/sidecar/{one['endpoint']}"
        asked[f"the files of {one['endpoint']}"] = (shell(script("tls_sidecar", "present.sh"), folder), "")
        asked[f"what {one['unit']} has read"] = (shell(script("tls_sidecar", "loaded.sh"), folder, one["unit"]), "")
    for one in look.runtimes:
        for model in one["models"]:
            if model["source"] == "file":
                ask = shell(script("common", "unreadable.sh"), model["location"])
                asked[f"who may read {model['location']}"] = (ask, "")
        asked |= _of_engine(look, one)
    return {name: {"argv": argv, "compared": lines} for name, (argv, lines) in asked.items()}


def _of_engine(look: Look, runtime: Mapping[str, Any]) -> dict[str, tuple[list[str], str]]:
    """Return what is asked of one kind of model server alone."""
    engine = {"llamaCpp": "llama_cpp", "ollama": "ollama"}[runtime["engine"]]
    gpu = look.options[f"{engine}_gpu"]
    asked = {}
    if engine == "ollama":
        asked["an Ollama of somebody else"] = (shell(script("ollama", "foreign.sh")), "")
    if gpu != "none":
        asked[f"the devices of the GPU ({gpu})"] = (shell("ls /dev/nvidiactl /dev/kfd 2>/dev/null"), ".")
        # both load the driver, which is asked by the roles as well
        asked[f"what {runtime['unit']} computes with"] = (
            python(script("ollama", "on_processor.py"), f"http://{_asked(runtime)}:{runtime['port']}")
            if engine == "ollama"
            else shell(_DEVICES.format(script("llama_cpp", "devices.sh")), runtime["unit"], gpu),
            ".",
        )
    return asked


def _asked(runtime: Mapping[str, Any]) -> str:
    return {"0.0.0.0": "127.0.0.1", "::1": "[::1]"}.get(runtime["address"], runtime["address"])  # noqa: S104


def module_arguments(look: Look) -> dict[str, Any]:
    """Return what the module on the host is to read."""
    files = [model["location"] for one in look.runtimes for model in one["models"] if model["source"] == "file"]
    return {
        "trees": list(TREES),
        "whole": ["/var/lib/hearth/models", *(f"/var/lib/hearth/ollama/{one['name']}" for one in look.runtimes)],
        "files": sorted(set(files)),
        "units": look.units,
        "packages": list(PACKAGES),
        "users": list(USERS),
        "questions": questions(look),
    }


def digest(value: object) -> str:
    """Return the digest of a value, whatever it is made of."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def code() -> str:
    """Return the digest of the roles and of everything else in the collection that decides."""
    files = [
        path
        for folder in ("roles", "playbooks", "plugins")
        for path in sorted((COLLECTION / folder).rglob("*"))
        if path.suffix not in (".pyc", ".md") and "collections" not in path.relative_to(COLLECTION).parts
        if path.is_file()
    ]
    found = hashlib.sha256()
    for path in files:
        found.update(f"{path.relative_to(COLLECTION)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def deciding(names: Sequence[str]) -> list[str]:
    """Return which variables decide over the roles."""
    return sorted(
        name
        for name in names
        if name in CONNECTION or (name.removeprefix("__").startswith(PREFIXES) and name not in UNREAD | SET_BY_PLAYBOOK)
    )


def judged(look: Look, answers: Mapping[str, str]) -> list[str]:
    """Return why the roles have something to do, out of answers that are right or wrong by themselves."""
    lines = {name: answer.splitlines() for name, answer in answers.items()}
    texts = [f"{name}: the question failed" for name, found in lines.items() if found and _failed(found[-1])]
    texts += _host(look, lines["the host"])
    if look.options["edge_firewall_enabled"]:
        texts += _firewall(look, lines["the firewall"])
        texts += [] if lines["the rules"] == ["same"] else ["the firewall: the kernel has other rules, or none"]
    silent = ("units of endpoints that left", "what ", "who may read ", "an Ollama of somebody else")
    for name, found in lines.items():
        if name.startswith(silent) and found and not name.endswith(" computes with"):
            texts.append(f"{name}: {found[0]}")
    return texts


def _failed(line: str) -> bool:
    return re.fullmatch(r"failed -?\d+|missing", line) is not None


def _host(look: Look, lines: Sequence[str]) -> list[str]:
    ahead = [line.removeprefix("ahead=") for line in lines if line.startswith("ahead=")]
    texts = [f"the host: {line}" for line in lines if line.startswith(("full=", "taken=", "settings=", "displaced="))]
    if not ahead or abs(int(ahead[0])) > int(look.options["common_clock_tolerance_seconds"]):
        texts.append(f"the host: its clock is {ahead[0] if ahead else 'unknown'} s ahead")
    return texts


def _firewall(look: Look, lines: Sequence[str]) -> list[str]:
    texts = [f"the firewall: {line}" for line in lines if line.startswith(("bad=", "foreign=", "locked="))]
    sources = look.options["edge_firewall_ssh_sources"]
    if (
        sources
        and look.options["connection"] in SSH_CONNECTIONS
        and not any(line.startswith("client=") for line in lines)
    ):
        texts.append("the firewall: nobody says where this run is connected from")
    return texts + [f"the firewall: {one['shown']} is reached" for one in shut(look, lines)["unasked"]]


def shut(look: Look, lines: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return what the rules shut, out of what the firewall's probe found."""
    let_in = [*look.plan["open_ports"], *look.options["edge_firewall_allowed"]]
    return shut_ports(lines, let_in, look.options["edge_firewall_shut"])


def certificates(look: Look, answers: Mapping[str, str]) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return what is wrong with the sidecars' files; by endpoint, the day its certificate ends, and its digest."""
    texts, ends, prints = [], {}, {}
    now = time.strftime(TIME, time.gmtime(look.now))
    for one in look.plan["sidecars"]:
        name, bundle = one["endpoint"], look.plan["bundles"][one["trust_bundle"]]
        try:
            present = json.loads(answers[f"the files of {name}"])
        except ValueError:
            texts.append(f"the files of {name}: cannot be read")
            continue
        texts += [f"the files of {name}: {file} was edited" for file in present["edited"]]
        found = read(present["certificate"], None, bundle, one["host"])
        if not found["readable"] or not found["covers"] or not found["not_before"] <= now < found["not_after"]:
            texts.append(f"the certificate of {name}: is not one that works now")
            continue
        if found["unverified"]:
            texts.append(f"the certificate of {name}: {found['unverified']}")
        end = found["not_after"]
        ends[name], prints[name] = f"{end[:4]}-{end[4:6]}-{end[6:8]}", found["fingerprint"]
        texts += _of_authority(look, one, end) if look.options["issued_here"] else []
    return texts, ends, prints


def authorities(folder: Path) -> list[tuple[Path, str]]:
    """Return the authorities of a trust bundle on the control host, the oldest first."""
    return [(file, file.read_text(encoding="utf-8").strip()) for file in sorted(folder.glob("*/ca.pem"))]


def _of_authority(look: Look, sidecar: Mapping[str, Any], end: str) -> list[str]:
    """Say whether the authority of the site would issue a new certificate by now, or has to be spoken of."""
    name, bundle = sidecar["endpoint"], look.plan["bundles"][sidecar["trust_bundle"]]
    trusted = [
        text for _, text in authorities(Path(look.options["authorities"]) / sidecar["trust_bundle"]) if text in bundle
    ]
    if not trusted:
        return [f"the certificate of {name}: no authority of its bundle is on this control host"]
    authority = read(trusted[-1], None, None)

    def in_days(days: object) -> str:
        return time.strftime(TIME, time.gmtime(look.now + int(str(days)) * 86400))

    texts = []
    if end < min(in_days(look.options["local_ca_renew_days"]), authority["not_after"]):
        texts.append(f"the certificate of {name}: it ends soon")
    if look.options["local_ca_renew"]:
        texts.append(f"the certificate of {name}: a new one is asked for")
    if authority["not_after"] < in_days(look.options["local_ca_warn_days"]):
        texts.append(f"the certificate of {name}: its authority ends")
    return texts


def wrong_answer(sidecar: Mapping[str, Any], path: str, said: str, fingerprint: str) -> str:
    """Say what is wrong with the document of a sidecar, if anything is."""
    if path != "/sidecar/identity":
        return ""
    try:
        identity = json.loads(said)
        shown = (identity["filesSha256"], identity["certificate"]["sha256"])
    except (ValueError, KeyError, TypeError):
        return "no identity"
    return "" if shown == (sidecar["files_sha256"], fingerprint) else "another configuration or certificate"


def yes(value: object) -> bool:
    """Return what Ansible takes a value for that means yes or no."""
    return str(value).lower() in ("true", "yes", "on", "1", "y", "t")

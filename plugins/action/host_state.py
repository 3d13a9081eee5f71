"""Action `hearth.edge.host_state`: what only the control host knows, around what the module reads on the host."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.common.yaml import yaml_load
from ansible.plugins.action import ActionBase
from ansible.template import trust_as_template
from ansible_collections.hearth.edge.plugins.plugin_utils import look as looking

ROLES = ("common", "edge_firewall", "llama_cpp", "ollama", "tls_sidecar", "local_ca")
NAMED = (
    "common_clock_tolerance_seconds",
    "common_free_bytes",
    "common_state_directory",
    "edge_firewall_allowed",
    "edge_firewall_enabled",
    "edge_firewall_shut",
    "edge_firewall_ssh_sources",
    "llama_cpp_gpu",
    "local_ca_renew",
    "local_ca_renew_days",
    "local_ca_warn_days",
    "ollama_gpu",
    "tls_sidecar_verify_address",
    "tls_sidecar_verify_delegate",
)
"""Options of the roles that the look itself goes by."""
SECONDS = 20
"""How long a sidecar may take to answer."""


class ActionModule(ActionBase):
    """Looks at a host, or lets it remember what the roles have left."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the roles have to do, as the module's documentation says."""
        found: dict[str, Any] = super().run(tmp, task_vars)
        variables = dict(task_vars or {})
        given = self._task.args
        self._read_variables(variables)
        look = self._look(given, variables)
        arguments = looking.module_arguments(look)
        remember = bool(given.get("remember", False))
        tokens = self._tokens(look, variables)
        inputs = given["inputs"] if remember else self._inputs(look, variables, tokens)
        answered = self._execute_module(
            module_name="hearth.edge.host_state",
            module_args={**arguments, "inputs": inputs, "remember": remember},
            task_vars=task_vars,
        )
        if answered.get("failed") or answered.get("unreachable") or remember:
            return {**found, **answered}
        answers = answered.pop("answers")
        texts, ends, prints = looking.certificates(look, answers)
        drift = [*looking.judged(look, answers), *texts, *answered.pop("drift")]
        drift += [f"the token {name}: it is not on this control host" for name, kept in tokens.items() if not kept]
        if not drift:
            drift = self._asked(look, tokens, prints)
        shut = (
            looking.shut(look, answers["the firewall"].splitlines())["shut"]
            if look.options["edge_firewall_enabled"]
            else []
        )
        return {**found, **answered, "drift": drift, "inputs": inputs, "ends": ends, "shut": shut}

    def _read_variables(self, variables: dict[str, Any]) -> None:
        """Let templates see the defaults of the roles behind everything else."""
        defaults: dict[str, Any] = {}
        for role in ROLES:
            file = looking.COLLECTION / "roles" / role / "defaults/main.yml"
            if file.is_file():
                for name, value in (yaml_load(file.read_text(encoding="utf-8")) or {}).items():
                    # the text of the collection's own files is a template, as it is in its role
                    defaults[name] = trust_as_template(value) if isinstance(value, str) else value
        self._templar.available_variables = {**defaults, **variables}

    def _value(self, name: str) -> Any:
        return self._templar.template(self._templar.available_variables[name])

    def _look(self, given: dict[str, Any], variables: dict[str, Any]) -> looking.Look:
        options = {name: self._value(name) for name in NAMED}
        options["edge_firewall_enabled"] = looking.yes(options["edge_firewall_enabled"])
        options["local_ca_renew"] = looking.yes(options["local_ca_renew"])
        state = Path(str(options["common_state_directory"])).expanduser()
        options["authorities"], options["credentials"] = state / "ca", state / "credentials"
        options["issued_here"] = "hearth_certificate" not in variables
        options["connection"] = variables.get("ansible_connection", "ssh")
        return looking.Look(given["plan"], looking.yes(given.get("existing_runtime", False)), options, time.time())

    def _tokens(self, look: looking.Look, variables: dict[str, Any]) -> dict[str, list[str]]:
        """Return the values of every credential of the host, by its reference; none when it would have to be made."""
        sidecars = look.plan["sidecars"]
        names = {one["credential"] for one in sidecars} | {one["runtime_credential"] for one in sidecars}
        names |= {one["credential"] for one in look.runtimes}
        written = self._value("hearth_credentials") if "hearth_credentials" in variables else {}
        found = {}
        for name in sorted(name for name in names if name):
            if name in written:
                value = written[name]
                found[name] = [str(one) for one in (value if isinstance(value, list) else [value])]
            else:
                file = look.options["credentials"] / name.replace("/", ".")
                files = [file, file.with_name(f"{file.name}.next")]
                found[name] = (
                    [one.read_text(encoding="utf-8").strip() for one in files if one.is_file()]
                    if file.is_file()
                    else []
                )
        return found

    def _inputs(self, look: looking.Look, variables: dict[str, Any], tokens: dict[str, list[str]]) -> dict[str, str]:
        """Return the digests of everything on the control host that decides over the roles."""
        found = {"the collection": looking.code(), "the claim": looking.digest(look.plan)}
        for name in looking.deciding(list(variables)):
            try:
                found[f"the variable {name}"] = looking.digest(self._value(name))
            except AnsibleError as error:  # one that needs a fact which nobody has read yet
                found[f"the variable {name}"] = looking.digest([str(variables[name]), str(error)])
        for name, values in tokens.items():
            found[f"the token {name}"] = looking.digest(values)
        if look.options["issued_here"]:
            bundles = {one["trust_bundle"] for one in look.plan["sidecars"]}
            for name in sorted(bundles):
                kept = [
                    (file.parent.name, text) for file, text in looking.authorities(look.options["authorities"] / name)
                ]
                found[f"the authorities of {name}"] = looking.digest(kept)
        return found

    def _asked(self, look: looking.Look, tokens: dict[str, list[str]], prints: dict[str, str]) -> list[str]:
        """Say what is wrong with the sidecars as the network sees them."""
        if look.options["tls_sidecar_verify_delegate"] != "localhost":
            return ["the sidecars: a host of the inventory is to ask them (tls_sidecar_verify_delegate)"]
        program = looking.script("tls_sidecar", "ask.py")
        running = []
        for one in look.plan["sidecars"]:
            token = tokens[one["credential"]][0]
            question = {
                "address": look.options["tls_sidecar_verify_address"],
                "port": one["port"],
                "host": one["host"],
                "bundle": look.plan["bundles"][one["trust_bundle"]],
                "header": one["credential_header"],
                "credential": f"{'Bearer ' if one['credential_is_bearer'] else ''}{token}",
            }
            for path in ("/sidecar/identity", "/sidecar/health"):
                process = subprocess.Popen(  # noqa: S603 - a program of the collection
                    [sys.executable, "-I", "-c", program],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                running.append((one, path, process, json.dumps({**question, "path": path}, default=str)))
        texts = []
        for one, path, process, question_text in running:
            said, why = process.communicate(question_text, timeout=SECONDS)
            wrong = (
                looking.wrong_answer(one, path, said, prints[one["endpoint"]])
                if process.returncode == 0
                else why.strip()
            )
            texts += [f"{one['endpoint']} answers {path} wrongly: {wrong}"] if wrong else []
        return texts

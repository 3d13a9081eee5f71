"""The Go programs that read what Hearth writes and what an operator writes: kubectl, and Pulumi."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

WORDS = (
    *("", "y", "n", "Y", "N", "yes", "No", "on", "OFF", "true", "False", "null", "Null", "~", "=", "<<"),
    *("1e3", "1E3", "1.e3", "0o7", "007", "08", "0x1F", "0b1", "1_000", "+1", "-0", "12345678901234567890", "1:30"),
    *(".5", "1.", ".inf", "-.INF", ".nan", "2026-01-01", "2026-1-1 1:00:00"),
)
"""Texts that without quotes are a truth, a number, a date or nothing in one version of YAML or another."""

AWKWARD = (
    *WORDS,
    *("nil", "-", "?", "- a", "a: b", "a #b", " a", "a ", "\ta", "'", '"', "\\", "%a", "@a", "`a", "!a", "&a", "*a"),
    *("|", ">", "{a", "[a", "a]", "#a", "---", "...", "a\nb", "\na", "a\n\n", " a\nb", "a \nb", "a\tb", "a\rb"),
    *("a\u0085b", "a\u2028b", "\ufeffa", "é", "\U0001f600", "\x7f", "é " * 80, "a" * 300, "os.environ/X"),
)
"""The same, and texts that an emitter has to escape, fold or indent."""

TEXTS = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(max_size=12).filter(lambda text: not any(0xD800 <= ord(character) <= 0xDFFF for character in text)),
    st.text(alphabet="0123456789eExXob_.+-:nyNYtTfF~ \n", max_size=6),
)
"""Any text, and many that look like numbers, dates and truths."""


def program(name: str) -> Path:
    """A Go program that `make tools` builds; a test that needs one that is not there fails, and says what to do."""
    found = Path(os.environ.get("HEARTH_CACHE") or Path.home() / ".cache" / "hearth") / "bin" / name
    assert found.is_file(), f"{name} is not there: run make tools"
    return found


def _run(*command: str, stdin: str = "", **environment: str) -> str:
    done = subprocess.run(
        command, input=stdin, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def read_by_kubectl(manifests: Sequence[str]) -> list[Any]:
    """What kubectl reads in manifests, without a cluster; each needs an apiVersion, a kind and a name."""
    text = "\n---\n".join(manifests)
    # It changes nothing but what it prints; there is no other command that reads without asking a cluster.
    shown = _run(str(program("kubectl")), "annotate", "--local", "-f", "-", "-o", "json", "read=by-kubectl", stdin=text)
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(shown.rstrip()):
        value, end = decoder.raw_decode(shown, at)
        annotations = value["metadata"]["annotations"]
        del annotations["read"]
        if not annotations:
            del value["metadata"]["annotations"]
        found.append(value)
        at = end + len(shown[end:]) - len(shown[end:].lstrip())
    return found


def read_by_pulumi(folder: Path, stack_file: str) -> Mapping[str, Any]:
    """What Pulumi reads in a stack file of the project `hearth`: the mappings by configuration key."""
    backend = folder / "state"
    backend.mkdir(exist_ok=True)
    (folder / "Pulumi.yaml").write_text("name: hearth\nruntime: python\n")
    settings = {
        "PULUMI_BACKEND_URL": f"file://{backend}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_HOME": str(folder / "home"),
    }
    pulumi = str(program("pulumi"))
    _run(pulumi, "-C", str(folder), "stack", "init", "read", "--non-interactive", **settings)
    # Making the stack wrote a salt, which this replaces: nothing here is encrypted.
    file = folder / "Pulumi.read.yaml"
    file.write_text(stack_file)
    shown = json.loads(
        _run(pulumi, "-C", str(folder), "config", "--json", "-s", "read", "--config-file", str(file), **settings)
    )
    return {key: item["objectValue"] for key, item in shown.items()}

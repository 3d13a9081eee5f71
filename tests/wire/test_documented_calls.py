"""Calls of pulumi and kubectl in the pages have commands and options that the real programs know."""

import os
import shlex
import subprocess

import pytest

from tests.support.documented import PAGES, commands, inline_commands
from tests.support.go_readers import program


def _calls(name: str) -> list[str]:
    texts = {text for page in PAGES for text in (*commands(page), *inline_commands(page))}
    # A call that a sentence shortens is not one.
    return sorted(text for text in texts if text.startswith(f"{name} ") and "…" not in text)


def _help(text: str) -> subprocess.CompletedProcess[str]:
    """Ask for the help of a call as it stands: both programs look at every option first."""
    name, *arguments = shlex.split(text.partition(" < ")[0].partition(" > ")[0])
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return subprocess.run(
        [str(program(name)), *arguments[:end], "--help"],
        env={**os.environ, "KUBECONFIG": os.devnull, "PULUMI_SKIP_UPDATE_CHECK": "true"},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("text", [*_calls("pulumi"), *_calls("kubectl")])
def test_the_options_of_a_call_exist(text: str) -> None:
    shown = _help(text)
    assert shown.returncode == 0, shown.stderr[-2000:]
    assert "Usage:" in shown.stdout


@pytest.mark.parametrize("text", ["pulumi up --refreshed", "kubectl get pods --all-of-them"])
def test_an_option_that_does_not_exist_would_be_found(text: str) -> None:
    assert _help(text).returncode != 0

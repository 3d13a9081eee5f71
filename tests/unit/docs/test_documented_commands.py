"""Every command that a page tells its reader to run is run by a test, or it is said why none can run it here."""

import contextlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from hearth.cli.main import app, main
from tests.support.documented import PAGES, ROOT, command, commands, inline_commands

CREDENTIALS = "tests/cluster/test_credentials.py::test_a_credential_is_removed_supplied_and_taken_up_without_a_failed"
CREDENTIALS += "_request_of_others"
FIELDS = "tests/cluster/test_field_managers.py::test_what_is_declared_wins_over_kubectl"
REHEARSED = "tests/cluster/test_backup.py::test_the_database_comes_back_from_a_dump_by_the_commands_of_the_page"
UPGRADE = "tests/upgrade/test_upgrade.py::test_an_environment_of_an_older_version_is_updated_and_taken_down"
MEASURED = "tests/cluster/test_evidence.py"
QUALIFIED = "tests/wire/test_qualify.py::test_from_nothing_to_a_route_and_back"

HERE = {
    "hearth check -s home": 0,
    "hearth check -s home --resolve": 0,
    "hearth check -s local": 0,
    "hearth render -s home -o DIR": 0,
    "hearth render -s home -o /tmp/home": 0,
    "hearth render -s home -o out": 0,
    "hearth schema": 0,
    "hearth evidence schema": 0,
    # The example has no evidence.
    "hearth evidence verify -s home": 1,
    "hearth evidence verify ollama-home -s home": 1,
    "hearth evidence show ollama-home -s home": 1,
    "hearth evidence show ollama-home -s home --ctrf": 1,
    "hearth runner-key new home-2026-q4 -s home -o ~/keys/home-2026-q4.pem": 0,
    "hearth runner-key rotate home-2026-q4 home-2027-q1 -s home -o ~/keys/home-2027-q1.pem": 0,
    "hearth runner-key revoke home-2026-q4 -s home": 0,
}
"""What `test_commands_of_the_pages_run` runs, in this order, and how each ends there."""

ELSEWHERE = {
    ". local/env.sh": "local/ask.sh",
    "ansible-playbook playbooks/ca.yml -e hearth_environment=home -e local_ca_name=home-ca": (
        "molecule/rotation/tests/test_authority.py"
    ),
    "hearth credentials list -s home": "tests/unit/gatewayapi/test_credentials.py",
    "hearth credentials remove infomaniak -s home": CREDENTIALS,
    "hearth credentials set --endpoint credential://ollama-home/workload -s home < token.txt": CREDENTIALS,
    (
        "hearth credentials set -s home --endpoint credential://ollama-home/workload "
        "< ~/.local/share/hearth/home/credentials/ollama-home.workload"
    ): CREDENTIALS,
    "hearth credentials set infomaniak -s home < token.txt": CREDENTIALS,
    "hearth evidence verify evidence/home/ollama-home.json": "tests/unit/evidence/test_command.py",
    (
        "hearth qualify ollama-home -s home --key ~/keys/home-2026-q4.pem --key-id home-2026-q4 "
        "--credential ~/keys/ollama-home.token --facts ollama-home.facts.json"
    ): QUALIFIED,
    "hearth qualify --all -s home --key ~/keys/home-2026-q4.pem --key-id home-2026-q4": MEASURED,
    "hearth qualify gemma -s home --key ~/keys/home-2026-q4.pem --key-id home-2026-q4": MEASURED,
    "kubectl create namespace system-llm": "tests/cluster/conftest.py",
    "kubectl label namespace system-llm app.kubernetes.io/managed-by=hearth hearth.dev/environment=home": (
        "tests/cluster/conftest.py"
    ),
    "make test": "local/test.sh",
    "make up": "local/test-cold.sh",
    "pulumi destroy -s home": UPGRADE,
    "pulumi preview -s home --diff": "tests/cluster/test_secrets.py::test_rendered_output_and_previews_hold_no_secret",
    "pulumi preview -s home --refresh --expect-no-changes": FIELDS,
    "pulumi preview -s local": "tests/cluster/test_changes.py::test_a_second_up_changes_nothing",
    "pulumi stack init home --secrets-provider passphrase": "tests/cluster/stack.py",
    "pulumi state unprotect <urn> -s home": UPGRADE,
    "pulumi up -s home": "tests/cluster/test_changes.py::test_a_second_up_changes_nothing",
    "pulumi up -s home --refresh": FIELDS,
    **{
        command("docs/operations.md", program, "litellm.dump"): REHEARSED
        for program in ("pg_dump", "-f /dev/null", "--clean")
    },
    "kubectl -n system-llm scale deployment/llm-gateway --replicas=0": REHEARSED,
    "kubectl -n system-llm wait --for=delete pod -l hearth.dev/role=gateway --timeout=300s": REHEARSED,
    **{
        text: "tests/unit/docs/test_documented_commands.py::test_the_credentials_of_a_control_host_come_back"
        for text in commands(ROOT / "docs/operations.md")
        if "/hearth" in text and text.startswith(("tar ", "openssl ", "mkdir "))
    },
    command("docs/client-guide.md", "curl"): (
        "tests/cluster/test_answers.py::test_curl_works_with_the_three_values_of_the_secret"
    ),
}
"""Which test or script runs a command, or the same one with other names, as `<file>::<test>` or `<file>`."""

NOT_HERE = {
    "ansible-galaxy collection build && ansible-galaxy collection install hearth-edge-*.tar.gz": (
        "installs into the reader's own Ansible"
    ),
    "ansible-playbook -i inventories/home_lan hearth.edge.edge": "needs that installation; it is playbooks/edge.yml",
    "export HEARTH_CA_PASSPHRASE=...": "sets a variable of the reader's shell",
    "kubectl -n system-llm get configmaps": "shows the reader what is there",
    "kubectl -n system-llm get pods -L hearth.dev/role,hearth.dev/endpoint": "shows the reader what is there",
    "kubectl -n system-llm logs -l hearth.dev/role=migrations -c lockdown --tail=-1": "shows the reader what is there",
    "kubectl -n system-llm logs deploy/llm-guard-0": "shows the reader what is there",
    "kubectl -n system-llm logs deploy/llm-gateway -c litellm": "shows the reader what is there",
    "kubectl -n system-llm port-forward service/llm-gateway 4000:4000": "goes on until the reader ends it",
    "kubectl get pods -A": "shows the reader what is there",
    command("docs/operations.md", "create secret generic pull"): "no registry here asks for a credential",
    "pip install <the clone>": "installs into the reader's own Python",
    "pulumi login file:///srv/hearth-state": "changes the reader's own login",
    "pulumi stack -s home --show-urns": "shows the reader what is there",
}
"""Why no test runs a command. That its options exist is looked at all the same, where its program is at hand."""

DOCUMENTED = {text for page in PAGES for text in commands(page)}
HEARTH = sorted(
    {text for text in DOCUMENTED if text.startswith("hearth ")}
    | {text for page in PAGES for text in inline_commands(page) if text.startswith("hearth ")}
)
TARGETS = sorted(
    {
        target
        for page in PAGES
        for text in (*commands(page), *inline_commands(page))
        if text.startswith("make ")
        for target in text.split()[1:]
        if re.fullmatch(r"[a-z-]+", target)
    }
)


def test_every_command_of_every_page_is_run_or_it_is_said_why_not() -> None:
    named = [*HERE, *ELSEWHERE, *NOT_HERE]
    assert len(named) == len(set(named))
    assert DOCUMENTED - set(named) == set(), "run it in a test, and name that here"
    assert set(named) - DOCUMENTED == set(), "no page says this any more"
    assert len(DOCUMENTED) > 50


@pytest.mark.parametrize("where", sorted(set(ELSEWHERE.values())))
def test_what_is_named_as_running_a_command_is_there(where: str) -> None:
    file, _, name = where.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in text


def parsed(arguments: list[str]) -> None:
    """Take a call apart as `hearth` does, without doing it.

    Raises:
        UsageError: there is no such command, option or argument.
    """
    found: Any = typer.main.get_command(app)
    context = None
    while hasattr(found, "resolve_command"):
        context = found.make_context(found.name or "hearth", list(arguments), parent=context)
        rest = [*context._protected_args, *context.args]
        _, found, arguments = found.resolve_command(context, rest)
    found.make_context(found.name, list(arguments), parent=context)


@pytest.mark.parametrize("text", HEARTH)
def test_a_call_of_hearth_has_commands_and_options_that_exist(text: str) -> None:
    arguments = shlex.split(text.partition(" < ")[0].partition(" > ")[0])[1:]
    if len(arguments) == 1 or "…" in arguments or arguments == ["evidence", "verify"]:
        # The name of a command within a sentence.
        arguments = [*(one for one in arguments if one != "…"), "--help"]
    with contextlib.suppress(typer.Exit):  # the help ends with it
        parsed(arguments)


def test_a_call_with_an_option_that_does_not_exist_would_be_found() -> None:
    with pytest.raises(Exception, match="No such option: --resolved"):
        parsed(["check", "-s", "home", "--resolved"])
    with pytest.raises(Exception, match="No such command"):
        parsed(["evidence", "look", "-s", "home"])


def test_targets_of_make_exist() -> None:
    assert {"up", "down", "test", "test-edge"} <= set(TARGETS)
    subprocess.run(["make", "--dry-run", *TARGETS], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def test_commands_of_the_pages_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (home / "keys").mkdir(parents=True)
    project.mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", project)
    for folder in ("stacks", "trust"):
        shutil.copytree(ROOT / folder, project / folder)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    ended = {}
    for text in HERE:
        arguments = shlex.split(text.replace("~", str(home)).replace("/tmp/home", str(tmp_path / "rendered")))
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as end:
            main()
        ended[text] = end.value.code
        assert "defect" not in capsys.readouterr().err, text
    assert ended == HERE
    assert (tmp_path / "rendered/manifests").is_dir()
    assert (home / "keys/home-2027-q1.pem").stat().st_mode & 0o777 == 0o600


def test_the_credentials_of_a_control_host_come_back(tmp_path: Path) -> None:
    """What the page says of the folder of the control host, in the order in which it is said."""
    backup, *restore = (
        text
        for text in commands(ROOT / "docs/operations.md")
        if "/hearth" in text and text.startswith(("tar ", "openssl ", "mkdir "))
    )
    before, after = tmp_path / "before", tmp_path / "after"
    state = before / ".local/share/hearth/home/credentials"
    state.mkdir(parents=True, mode=0o700)
    after.mkdir()
    token = state / "ollama-home.workload"
    token.write_text("canary-token\n")
    token.chmod(0o600)

    def run(text: str, home: Path) -> None:
        # openssl asks for the passphrase at a terminal; here it is in a variable.
        asked = text.replace("openssl enc ", "openssl enc -pass env:PASSPHRASE ")
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "PASSPHRASE": "of this test alone"}
        subprocess.run(["bash", "-euo", "pipefail", "-c", asked], cwd=tmp_path, env=environment, check=True)

    run(backup, before)
    assert b"canary-token" not in (tmp_path / "home-hosts.backup").read_bytes()
    for text in restore:
        run(text, after)
    found = after / ".local/share/hearth/home/credentials/ollama-home.workload"
    assert (found.read_text(), found.stat().st_mode & 0o777) == ("canary-token\n", 0o600)
    assert found.parent.stat().st_mode & 0o777 == 0o700

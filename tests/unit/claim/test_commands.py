"""`hearth check` and `hearth schema`: what they print, where, and their exit codes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.cli import check as check_module
from hearth.cli.main import COMMANDS, main

PROJECT = Path(__file__).resolve().parents[3]
Hearth = Callable[..., tuple[int, str, str]]


@pytest.fixture
def hearth(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hearth:
    """Run the command in the project's folder; return its exit code and what it wrote."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.delenv("HEARTH_DEBUG", raising=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["hearth", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        written = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return code, written.out, written.err

    return run


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    file = tmp_path / "Pulumi.wrong.yaml"
    file.write_text("config:\n  hearth:llm: {enabled: 1}\n  hearth:policy: {evidence: maybe}\n")
    return file


@pytest.fixture
def unmeasured(tmp_path: Path) -> Path:
    """The claim of `local` where nothing was measured, and nothing is asked for."""
    text = (PROJECT / "stacks/Pulumi.local.yaml").read_text()
    file = tmp_path / "stacks/Pulumi.local.yaml"
    file.parent.mkdir()
    file.write_text(text.replace("    images: localBuild\n", '    images: localBuild\n    evidence: "off"\n'))
    return file


def test_a_right_claim(hearth: Hearth, unmeasured: Path) -> None:
    code, out, err = hearth("check", "-f", str(unmeasured))
    assert code == 0
    assert out == "The claim local is right: 1 endpoint, 1 deployment, 1 alias, 0 providers, 2 tenants.\n"
    assert err.startswith('warning: hearth:policy.evidence: is "off", so that ')


def test_a_stack_is_found_from_a_folder_inside_the_project(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROJECT / "stacks")
    assert hearth("check", "-s", "home")[0] == 0


def test_a_right_claim_in_json(hearth: Hearth) -> None:
    code, out, err = hearth("check", "-f", "stacks/Pulumi.dev.yaml", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["ok"], found["stack"]) == (True, "dev")
    assert found["warnings"][0]["path"] == "hearth:policy.vendor"


EXPECTED = [
    "Pulumi.wrong.yaml:2:16: hearth:llm.enabled: must be true or false, and is a number. Write true or false.",
    "Pulumi.wrong.yaml:3:19: hearth:policy.evidence: must be one of off, warn, enforce. Write one of these.",
]


def test_a_wrong_claim(hearth: Hearth, wrong: Path) -> None:
    code, out, err = hearth("check", "-f", str(wrong))
    assert (code, out) == (2, "")
    assert err.splitlines() == EXPECTED


def test_a_wrong_claim_in_json(hearth: Hearth, wrong: Path) -> None:
    code, out, err = hearth("check", "-f", str(wrong), "--json")
    assert (code, err) == (2, "")
    assert json.loads(out) == {
        "ok": False,
        "problems": [
            {
                "path": "hearth:llm.enabled",
                "message": "must be true or false, and is a number",
                "remedy": "Write true or false",
                "location": "Pulumi.wrong.yaml:2:16",
            },
            {
                "path": "hearth:policy.evidence",
                "message": "must be one of off, warn, enforce",
                "remedy": "Write one of these",
                "location": "Pulumi.wrong.yaml:3:19",
            },
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "hearth: the call must name one claim. Give either -s <stack> or -f FILE.\n"),
        (("-s", "a", "-f", "b"), "hearth: the call must name one claim. Give either -s <stack> or -f FILE.\n"),
        (("-s", "locla"), "stack locla: there is no file stacks/Pulumi.locla.yaml. Did you mean local?\n"),
        (
            ("-s", "../x"),
            "stack: is not a stack name: lower-case letters, digits and single hyphens. "
            "Stacks here: dev, home, local, production.\n",
        ),
        (("-f", "nothing.yaml"), "nothing.yaml: there is no such file. Check the name and the folder.\n"),
    ],
)
def test_a_wrong_call(hearth: Hearth, arguments: tuple[str, ...], expected: str) -> None:
    assert hearth("check", *arguments) == (2, "", expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sk-planted",), "there is no such command"),
        (("evidence", "sk-planted"), "there is no such command"),
        (("check", "-s", "local", "sk-planted"), "there is an argument too many"),
        (("credentials", "set", "vendor", "sk-planted"), "there is an argument too many"),
        (("check", "--bogus=sk-planted"), "No such option: --bogus"),
        (("check", "-s"), "Option '-s' requires an argument."),
    ],
)
def test_a_call_that_no_command_takes(hearth: Hearth, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = hearth(*arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[0].startswith("Usage: hearth ")
    assert err.splitlines()[1:] == [f"error: {message}"]
    code, out, err = hearth(*arguments[:1], "--json", *arguments[1:])
    assert (code, err) == (2, "")
    assert "planted" not in out
    assert len(json.loads(out)["problems"]) == 1


def test_a_call_without_a_command_shows_the_help(hearth: Hearth) -> None:
    code, out, err = hearth()
    assert code == 2
    assert "Commands" in out + err
    assert "error" not in out + err


@pytest.mark.parametrize(
    "command", [("check",), ("render", "-o", "out"), ("evidence", "show", "ollama-home"), ("credentials", "list")]
)
def test_with_json_a_wrong_call_is_json(hearth: Hearth, command: tuple[str, ...]) -> None:
    code, out, err = hearth(*command, "-s", "locla", "--json")
    assert (code, err) == (2, "")
    (problem,) = json.loads(out)["problems"]
    assert problem["path"] == "stack locla"
    assert problem["remedy"] == "Did you mean local?"


def test_a_defect_is_one_line_without_values(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("sk-planted")

    monkeypatch.setattr(check_module, "load", broken)
    code, out, err = hearth("check", "-s", "local")
    assert (code, out) == (1, "")
    assert err.startswith("hearth: unexpected RuntimeError at check.py:")
    assert len(err.splitlines()) == 1
    assert "planted" not in err
    monkeypatch.setenv("HEARTH_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["hearth", "check", "-s", "local"])
    with pytest.raises(RuntimeError):
        main()


def test_schema(hearth: Hearth) -> None:
    code, out, err = hearth("schema")
    assert (code, err) == (0, "")
    assert json.loads(out)["properties"]["config"]["properties"]["hearth:llm"]


def test_every_command_of_the_table_is_there(hearth: Hearth) -> None:
    code, out, _ = hearth("--help")
    assert code == 0
    for name in COMMANDS:
        # What a Job runs is not meant to be typed.
        assert name in out or name == "measure"
        assert hearth(name, "--help")[0] == 0


def test_check_waits_for_nothing_that_it_does_not_need(unmeasured: Path) -> None:
    """What makes it fast: no Pulumi, no Kubernetes client, no HTTP client, no resolver; where no evidence is read."""
    code = (
        f"import sys\nfrom hearth.cli.main import main\nsys.argv = ['hearth', 'check', '-f', {str(unmeasured)!r}]\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "heavy = {'pulumi', 'kubernetes', 'httpx', 'grpc', 'ansible', 'cryptography', 'rich', 'jinja2', 'socket'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"

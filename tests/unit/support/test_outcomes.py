"""A skipped test fails the run, and a run writes how long its tests took."""

import json
from pathlib import Path

import pytest

from tests.support.outcomes import LACKING

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
REASON = next(iter(LACKING))


@pytest.fixture(autouse=True)
def own_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs in here are none of the run that they are in."""
    monkeypatch.delenv("HEARTH_TIMES", raising=False)


def run(pytester: pytest.Pytester, text: str) -> pytest.RunResult:
    pytester.makepyfile(text)
    return pytester.runpytest_inprocess("-p", "tests.support.outcomes")


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n@pytest.mark.skip(reason='no tool')\ndef test_it(): pass",
        "import pytest\n@pytest.mark.skipif(True, reason='no tool')\ndef test_it(): pass",
        "import pytest\ndef test_it(): pytest.skip('no tool')",
        "import pytest\n@pytest.fixture\ndef tool(): pytest.skip('no tool')\ndef test_it(tool): pass",
        "import pytest\n@pytest.mark.xfail(reason='no tool')\ndef test_it(): assert False",
        "import unittest\nclass Test(unittest.TestCase):\n    def test_it(self): self.skipTest('no tool')",
    ],
    ids=["mark", "condition", "call", "fixture", "expected failure", "unittest"],
)
def test_a_skipped_test_is_a_failure(pytester: pytest.Pytester, text: str) -> None:
    found = run(pytester, text)
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    assert sum(found.parseoutcomes().get(kind, 0) for kind in ("failed", "errors")) == 1
    found.stdout.fnmatch_lines(["*was skipped: *no tool*"])


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\npytest.importorskip('no_such_package')\ndef test_it(): pass",
        "import pytest\npytest.skip('no tool', allow_module_level=True)\ndef test_it(): pass",
    ],
    ids=["importorskip", "skip"],
)
def test_a_skipped_module_is_a_failure(pytester: pytest.Pytester, text: str) -> None:
    found = run(pytester, text)
    assert found.ret == pytest.ExitCode.INTERRUPTED
    found.stdout.fnmatch_lines(["*was skipped: *no*"])


def test_what_the_readme_says_is_lacking_may_be_skipped(pytester: pytest.Pytester) -> None:
    found = run(pytester, f"import pytest\ndef test_it(): pytest.skip({REASON!r})")
    assert found.ret == pytest.ExitCode.OK
    found.assert_outcomes(skipped=1)


def test_the_readme_says_so() -> None:
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert [sentence for sentence in LACKING.values() if sentence not in readme] == []


def test_a_run_writes_the_times_of_its_tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_TIMES", str(pytester.path / "times"))
    monkeypatch.setenv("HEARTH_PHASE", "wire")
    run(
        pytester,
        "import pytest, time\n"
        "@pytest.fixture\ndef slow():\n    time.sleep(0.2)\n    yield\n    time.sleep(0.1)\n"
        "def test_good(slow): pass\ndef test_bad(): assert False\n",
    )
    run(pytester, "def test_of_a_second_process(): pass")
    lines = [json.loads(line) for line in (pytester.path / "times/wire.jsonl").read_text().splitlines()]
    assert [(line["phase"], line["test"].rpartition("::")[2], line["outcome"]) for line in lines] == [
        ("wire", "test_good", "passed"),
        ("wire", "test_bad", "failed"),
        ("wire", "test_of_a_second_process", "passed"),
    ]
    assert [line["why"] for line in lines] == ["", "assert False", ""]
    assert lines[0]["setup"] >= 0.2
    assert lines[0]["teardown"] >= 0.1
    assert lines[0]["seconds"] == pytest.approx(lines[0]["setup"] + lines[0]["call"] + lines[0]["teardown"])

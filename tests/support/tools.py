"""The real programs that tests start on loopback: `local/test-tools.sh` makes them and links them into .tools/."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def tool(name: str) -> Path:
    """The folder of a program; a test that needs one that is not there fails, and says what to do."""
    folder = PROJECT / ".tools" / name
    assert (folder / ".complete").is_file(), f"{name} is not there: run local/test-tools.sh {name}"
    return folder

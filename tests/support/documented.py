"""The commands that the pages tell their readers to run, as they stand there."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "local/README.md",
    *sorted(ROOT.glob("roles/*/README.md")),
)
"""What speaks to readers."""
PROGRAMS: Final = (
    *(".", "ansible-galaxy", "ansible-playbook", "cd", "curl", "export", "hearth", "kubectl", "make", "mkdir"),
    *("openssl", "pip", "podman", "pulumi", "python", "systemctl", "tar"),
)
"""What a line that is a command begins with."""
SHELL: Final = frozenset({"", "sh", "bash", "console", "shell"})
"""Languages of fenced blocks that hold commands."""
_INDENTED: Final = re.compile(r" {4,}\S")
_EXPLANATION: Final = re.compile(r"\s{2,}(?!-)\S.*$|\s+# .*$")
_INLINE: Final = re.compile(r"`((?:hearth|make|pulumi) [^`\n]+)`")


def commands(page: Path) -> list[str]:
    """Return the commands of a page's blocks in order, without what is said of them beside them."""
    found: list[str] = []
    fence: str | None = None
    going_on = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("```"):
            fence = line.strip().removeprefix("```") if fence is None else None
        elif fence in SHELL if fence is not None else _INDENTED.match(line):
            text = f"{going_on} {line.strip()}".strip()
            if text.endswith("\\"):
                going_on = text.removesuffix("\\").strip()
                continue
            going_on = ""
            if text.split()[0] in PROGRAMS:
                found.append(" ".join(_EXPLANATION.sub("", text).split()))
    return found


def inline_commands(page: Path) -> list[str]:
    """Return the commands that stand within a page's sentences, of the programs whose calls can be looked at."""
    return _INLINE.findall(page.read_text(encoding="utf-8"))


def command(page: str, *parts: str) -> str:
    """Return the one command of a page that has these parts, for a test that runs what the page says."""
    found = [text for text in commands(ROOT / page) if all(part in text for part in parts)]
    assert len(found) == 1, f"{page} has {len(found)} commands with {parts}"
    return found[0]

"""edge_readmes.py [--check]: the README of each role, out of its meta/argument_specs.yml.

Also holds the specification to the role: an option that is not required has a default in defaults/main.yml, and every
default is specified. With --check nothing is written; a README that is not current is named and the exit code is 1.
"""

import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROLES = Path(__file__).resolve().parents[1] / "roles"
INTERNAL = "common"


def plain(text: str | list[str]) -> str:
    """Return a description without Ansible's markup: C(x) and O(x) become `x`."""
    joined = " ".join(text) if isinstance(text, list) else text
    return re.sub(r"\b[CO]\(([^)]*)\)", r"`\1`", joined)


def options_of(role: Path) -> dict[str, dict[str, Any]]:
    """Return the options of all entry points of a role together."""
    specs = yaml.safe_load((role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]
    return {name: option for entry in specs.values() for name, option in (entry.get("options") or {}).items()}


def disagreements(role: Path) -> list[str]:
    """Return what the specification and the defaults of a role say differently."""
    options = options_of(role)
    defaults = yaml.safe_load((role / "defaults/main.yml").read_text(encoding="utf-8")) or {}
    optional = {name for name, option in options.items() if not option.get("required")}
    found = [f"{role.name}: {name} has no default in defaults/main.yml" for name in sorted(optional - set(defaults))]
    found += [f"{role.name}: {name} is not in meta/argument_specs.yml" for name in sorted(set(defaults) - set(options))]
    for name in sorted(optional & set(defaults)):
        written, said = defaults[name], options[name].get("default")
        if "{{" not in str(written) and written != said:
            found.append(f"{role.name}: the default of {name} is {written!r}, and the specification says {said!r}")
    return found


def cell(text: object) -> str:
    """Return a table cell."""
    return str(text).replace("|", "\\|").replace("\n", " ").strip()


def rows(options: dict[str, dict[str, Any]], depth: int = 0) -> list[str]:
    """Return a table row for each option, fields of dictionaries below their own."""
    found = []
    for name, option in options.items():
        kind = option.get("type", "str") + (f" of {option['elements']}" if "elements" in option else "")
        default = "required" if option.get("required") else f"`{cell(option.get('default', ''))}`"
        label = "&nbsp;&nbsp;" * depth + f"`{name}`"
        choices = f" One of {', '.join(f'`{choice}`' for choice in option['choices'])}." if "choices" in option else ""
        found.append(f"| {label} | {kind} | {default} | {cell(plain(option['description']))}{choices} |")
        found += rows(option.get("options", {}), depth + 1)
    return found


def readme(role: Path) -> str:
    """Return the text of a role's README."""
    specs = yaml.safe_load((role / "meta/argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]
    origin = "<!-- Written by local/edge_readmes.py out of meta/argument_specs.yml. -->"
    lines = [f"# hearth.edge.{role.name}", "", origin, ""]
    shown: list[object] = []
    for entry, spec in specs.items():
        if spec.get("options") in shown:  # the checks of a role take what the role takes
            lines += [f"`tasks_from: {entry}` takes the same options and only checks the host.", ""]
            continue
        shown.append(spec.get("options"))
        lines += [f"## `{entry}`", "", f"{plain(spec['short_description'])}.", ""]
        lines += [plain(spec["description"]), ""] if "description" in spec else []
        if spec.get("options"):
            lines += ["| option | type | default | meaning |", "| --- | --- | --- | --- |", *rows(spec["options"]), ""]
    return "\n".join(lines)


def main() -> int:
    """Write the READMEs, or check them."""
    check = "--check" in sys.argv[1:]
    wrong = []
    for role in sorted(path.parent.parent for path in ROLES.glob("*/meta/argument_specs.yml")):
        wrong += disagreements(role)
        if role.name == INTERNAL:
            continue
        file, text = role / "README.md", readme(role)
        if check and (not file.is_file() or file.read_text(encoding="utf-8") != text):
            wrong.append(f"{role.name}: README.md is not current; run .venv/bin/python local/edge_readmes.py")
        elif not check:
            file.write_text(text, encoding="utf-8")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

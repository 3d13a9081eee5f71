"""Which names LiteLLM's source could read from a request's body, found in its syntax trees.

Nobody can say which of LiteLLM's dictionaries hold a caller's field: a body becomes keyword arguments, those become
further dictionaries, and both go from function to function. So nothing is traced. A name counts if the source has it

- as a text: `.get("name")`, `.pop("name")`, `["name"]`, `"name" in body`, `== "name"`, an element of a list of optional
  parameters, a key of a dict, an argument, `case "name"`, `NAME = "name"`;
- as a parameter, where `**kwargs` ends;
- as a keyword of a call, where `**kwargs` of another function begins;
- as an annotated field of a class: pydantic models, TypedDict, dataclasses.

That is more than a body's fields, and never less.

    python -m tests.support.litellm_reads SITE_PACKAGES...    writes the record, from both versions together
"""

import ast
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

RECORD = Path(__file__).parents[1] / "wire/litellm_names.txt"
"""The names, one a line, sorted: what both versions of LiteLLM could read."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_OTHER_VENDORS = "litellm/llms/"
_OUR_VENDOR = (
    "litellm/llms/base_llm/",
    "litellm/llms/custom_httpx/",
    "litellm/llms/openai/",
    "litellm/llms/openai_like/",
)


def names(source: str) -> frozenset[str]:
    """Return the names of one source file.

    Raises:
        SyntaxError: the text is no Python.
    """
    return frozenset(name for name in _candidates(ast.parse(source)) if _NAME.fullmatch(name))


def _candidates(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.value
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.keyword):
            if node.arg:
                yield node.arg
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    yield statement.target.id


def litellm_names(site: Path) -> frozenset[str]:
    """Return the names of an installed LiteLLM, without the code of other vendors than the one that Hearth names.

    Args:
        site: the folder that `litellm` lies in.

    Raises:
        FileNotFoundError: it is not there.
    """
    if not (site / "litellm/proxy/proxy_server.py").is_file():
        raise FileNotFoundError(f"no LiteLLM in {site}")
    found: set[str] = set()
    for file in (site / "litellm").rglob("*.py"):
        path = file.relative_to(site).as_posix()
        if not path.startswith(_OTHER_VENDORS) or path.startswith(_OUR_VENDOR):
            found |= names(file.read_text(encoding="utf-8"))
    return frozenset(found)


def kept_names(home: Path) -> frozenset[str]:
    """Return the names of the LiteLLM of one of the tests' programs.

    The folder has the digest of what made it in its name and never changes, so that they are kept there for the
    next run.
    """
    file = home / f"names-{hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]}.txt"
    if not file.exists():
        [site] = home.glob("lib/python3*/site-packages")
        text = "\n".join(sorted(litellm_names(site)))
        part = file.with_name(f"{file.name}.{os.getpid()}")
        part.write_text(text, encoding="utf-8")
        part.rename(file)
    return frozenset(file.read_text(encoding="utf-8").split("\n"))


def main(sites: Iterable[str]) -> None:
    """Write the record."""
    found = frozenset().union(*(litellm_names(Path(site)) for site in sites))
    RECORD.write_text("".join(f"{name}\n" for name in sorted(found)), encoding="utf-8")
    print(f"{len(found)} names")


if __name__ == "__main__":
    main(sys.argv[1:])

"""The documents agree with the program and with each other."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from hearth.claim.policy import Policy
from hearth.cli.main import COMMANDS
from hearth.evidence import coverage
from hearth.evidence.reasons import EXIT_CODES
from hearth.evidence.schema import evidence_schema_text
from hearth.evidence.trust import TrustStore

ROOT = Path(__file__).parents[3]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
RECORDS = sorted((ROOT / "docs" / "adr").glob("0*.md"))
NUMBER = re.compile(r"\b(?:S[0-4]|U|C)-[0-9]+\b")
LATER = {"rotate-ca", "status", "posture", "models"}


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_that_of_the_program(generate: ModuleType) -> None:
    assert generate.REFERENCE.read_text() == generate.reference(), "run: python docs/generate.py"


def test_the_guide_shows_the_example_stacks_as_they_are(generate: ModuleType) -> None:
    text = generate.GUIDE.read_text()
    assert text == generate.guide(), "run: python docs/generate.py"
    for name in ("home", "production"):
        assert (ROOT / "stacks" / f"Pulumi.{name}.yaml").read_text() in text


def test_the_client_guide_shows_the_errors_as_they_are(generate: ModuleType) -> None:
    text = generate.CLIENT_GUIDE.read_text()
    assert text == generate.client_guide(), "run: python docs/generate.py"
    assert "| 404 | `model_not_found` |" in text


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target


def test_every_number_in_the_program_and_the_documents_is_explained() -> None:
    known = set(re.findall(r"^\| ((?:S[0-4]|U|C)-[0-9]+) \|", (ROOT / "docs" / "requirements.md").read_text(), re.M))
    files = [*ROOT.glob("hearth/**/*.py"), *DOCS]
    named = {number for file in files for number in NUMBER.findall(file.read_text())}
    assert len(named) > 100
    assert named - known == set()


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_its_form_and_stands_in_the_index(path: Path) -> None:
    lines = path.read_text().splitlines()
    number, title = re.fullmatch(r"# ([0-9]+)\. (.+)", lines[0]).groups()  # type: ignore[union-attr]
    assert path.name.startswith(f"{int(number):04}-")
    assert re.fullmatch(
        r"Status: (accepted|replaced by [0-9]+), [0-9]{4}-[0-9]{2}-[0-9]{2}(; extended by [0-9]+)?", lines[2]
    )
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == ["## Context", "## Decision", "## Consequences", "## Alternatives rejected"]
    index = (ROOT / "docs" / "adr" / "README.md").read_text()
    assert f"- [{number}. {title}]({path.name})" in index


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_commands_in_the_documents_exist(path: Path) -> None:
    named = set(re.findall(r"(?:^ {4}|`)hearth ([a-z-]+)", path.read_text(), re.M))
    assert named <= {*COMMANDS, *LATER}


def test_the_trust_store_of_the_guide_is_one() -> None:
    text = (ROOT / "docs" / "evidence.md").read_text()
    block = next(part for part in re.findall(r"```yaml\n(.*?)```", text, re.S) if "hearth.trust-store" in part)
    store = TrustStore.model_validate(yaml.safe_load(block))
    assert store.approved_key_ids == ("home-2026-q3",)


def test_the_published_schema_is_that_of_the_program(generate: ModuleType) -> None:
    assert generate.EVIDENCE_SCHEMA.read_text() == evidence_schema_text(), "run: python docs/generate.py"


def test_the_catalogue_of_the_guide_is_that_of_the_program() -> None:
    text = (ROOT / "docs" / "evidence.md").read_text()
    assert f"## The catalogue, version {coverage.CATALOGUE_VERSION}" in text
    cases = {name for names in coverage.PROBES.values() for name in names}
    cases |= {*coverage.IDENTIFYING, *coverage.BEARING}
    cases |= {name for names in coverage.CAPABILITIES.values() for name in names}
    cases |= {name for one in coverage.OF_AN_ENGINE.values() for names in one.values() for name in names}
    assert not [name for name in cases if f"`{name}`" not in text]


def test_exit_codes_and_policies_are_named_as_they_are() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()
    assert ", ".join(f"{code} {verdict.value}" for verdict, code in EXIT_CODES.items()) in text
    for value in ("off", "warn", "enforce"):
        assert f"`{value}`" in (ROOT / "docs" / "adr" / "0012-signed-evidence-decides-over-routes.md").read_text()
    assert Policy().evidence == "enforce"


@pytest.mark.parametrize(
    "path",
    [*DOCS, *(ROOT / f"trust/{name}/runners.yaml" for name in ("dev", "home", "production"))],
    ids=lambda path: path.name,
)
def test_documents_speak_to_strangers(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"/work/|/tmp/w\b|\bhelpers?\b|\bTODO\b", text)
    assert max(map(len, text.splitlines())) < 700

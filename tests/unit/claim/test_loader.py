"""What is not even a stack file: one clear line each, with its place, and never a traceback."""

import os
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from hearth.claim.base import Identifier, is_environment_name
from hearth.claim.loader import load_claim_file, load_claim_values, project_folder, stack_file
from hearth.claim.problems import ClaimError

MINIMAL = b"config:\n  hearth:llm: {enabled: true}\n"
KEYS = (
    "Known keys: hearth:environment, hearth:llm, hearth:networkZones, hearth:trustBundles, hearth:endpoints, "
    "hearth:deployments, hearth:aliases, hearth:tenants, hearth:privateInstances, hearth:nodePools, "
    "hearth:mesh, hearth:policy."
)
BEGIN = "Begin with `config:` and put hearth:llm and the other keys below it."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    return tmp_path


def lines(project: Path, content: bytes) -> list[str]:
    """Return what is said about a stack file of this content."""
    file = project / "stacks" / "Pulumi.try.yaml"
    file.write_bytes(content)
    try:
        load_claim_file(file)
    except ClaimError as error:
        return str(error).splitlines()
    return []


WHOLE_FILES: list[tuple[str, bytes, str]] = [
    (
        "a tab",
        b"config:\n\thearth:llm: {enabled: true}\n",
        "stacks/Pulumi.try.yaml:2:1: YAML: a tab indents this line. Indent with spaces.",
    ),
    (
        "an open bracket",
        b"config:\n  hearth:llm: {enabled: true\n",
        "stacks/Pulumi.try.yaml:3:1: YAML: is broken before or at this place. Check indentation, quotes and brackets.",
    ),
    (
        "a colon too many",
        b"config: hearth: x\n",
        "stacks/Pulumi.try.yaml:1:15: YAML: is broken before or at this place. Check indentation, quotes and brackets.",
    ),
    (
        "an open quote",
        b'config:\n  hearth:llm: "planted\n',
        "stacks/Pulumi.try.yaml:3:1: YAML: is broken before or at this place. Check indentation, quotes and brackets.",
    ),
    (
        "an anchor",
        b"config:\n  hearth:llm: &x {enabled: true}\n",
        "stacks/Pulumi.try.yaml:2:15: YAML: uses a YAML anchor or alias. Write the value out at each place.",
    ),
    (
        "an alias bomb",
        b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + i, 98 + i, 97 + i, 97 + i) for i in range(20)),
        "stacks/Pulumi.try.yaml:1:4: YAML: uses a YAML anchor or alias. Write the value out at each place.",
    ),
    (
        "a merge key",
        b"config:\n  hearth:llm:\n    <<: {enabled: true}\n",
        "stacks/Pulumi.try.yaml:3:5: YAML: merges a mapping with <<. Write the values out.",
    ),
    (
        "a key that is a list",
        b"config:\n  ? [a]\n  : b\n",
        "stacks/Pulumi.try.yaml:2:5: YAML: has a key that is not a plain text. Write a text as the key.",
    ),
    (
        "a long key",
        b"config:\n  ? " + b"k" * 600 + b"\n  : b\n",
        "stacks/Pulumi.try.yaml:2:5: YAML: has a key of more than 512 characters. Write a shorter name.",
    ),
    (
        "two documents",
        MINIMAL + b"---\nconfig: {}\n",
        "stacks/Pulumi.try.yaml:3:1: YAML: begins a second document. Keep one document in a file.",
    ),
    (
        "deep nesting",
        b"config: " + b"[" * 60 + b"]" * 60,
        "stacks/Pulumi.try.yaml:1:33: YAML: is nested too deeply. Write the claim as its schema says.",
    ),
    (
        "a control character",
        b"config:\n  hearth:llm: \x07\n",
        "stacks/Pulumi.try.yaml: holds a control character, which YAML does not allow. "
        "Remove it; an editor can show it.",
    ),
    (
        "a NUL",
        b"config:\x00\n",
        "stacks/Pulumi.try.yaml: holds a control character, which YAML does not allow. "
        "Remove it; an editor can show it.",
    ),
    (
        "Latin-1",
        b"config:\n  hearth:llm: {enabled: true} # f\xfcr\n",
        "stacks/Pulumi.try.yaml:2: stacks/Pulumi.try.yaml: is not UTF-8. Save it as UTF-8 text.",
    ),
    (
        "UTF-16",
        "config: {}".encode("utf-16"),
        "stacks/Pulumi.try.yaml:1: stacks/Pulumi.try.yaml: is not UTF-8. Save it as UTF-8 text.",
    ),
    (
        "ten megabytes",
        MINIMAL + b"#" * 10_000_000,
        "stacks/Pulumi.try.yaml: is larger than 1024 KiB. A stack file holds a claim and nothing else.",
    ),
    ("nothing", b"", f"stacks/Pulumi.try.yaml: is empty. {BEGIN}"),
    ("a comment alone", b"# nothing\n", f"stacks/Pulumi.try.yaml: is empty. {BEGIN}"),
    (
        "a list",
        b"- config\n",
        f"stacks/Pulumi.try.yaml: is not a stack file: a mapping with a mapping `config`. {BEGIN}",
    ),
    (
        "a text",
        b"planted\n",
        f"stacks/Pulumi.try.yaml: is not a stack file: a mapping with a mapping `config`. {BEGIN}",
    ),
    (
        "a claim without config",
        b"hearth:llm: {enabled: true}\n",
        f"stacks/Pulumi.try.yaml: is not a stack file: a mapping with a mapping `config`. {BEGIN}",
    ),
    (
        "an empty config",
        b"config:\n",
        f"stacks/Pulumi.try.yaml: is not a stack file: a mapping with a mapping `config`. {BEGIN}",
    ),
]


@pytest.mark.parametrize(("name", "content", "expected"), WHOLE_FILES, ids=[case[0] for case in WHOLE_FILES])
def test_not_a_stack_file(project: Path, name: str, content: bytes, expected: str) -> None:
    assert lines(project, content) == [expected]


AMBIGUOUS = (
    "is a number or a date that YAML programs read differently. "
    "Put it in quotes, or write a whole number in plain digits."
)
TRUTH = (
    "is a word that some YAML programs read as true or false. Write true or false, or put it in quotes if it is a text."
)
VALUES: list[tuple[str, str, str]] = [
    *[
        (
            text,
            f"hearth:llm: {{enabled: true, gateway: {{replicas: {text}}}}}",
            f"hearth:llm.gateway.replicas: {AMBIGUOUS}",
        )
        for text in ("2.0", "2e0", "0x2", "0o2", "02", "1_0", "1:30", ".inf", ".NaN", "2026-01-01", "-.5")
    ],
    (
        "yes",
        "hearth:llm: {enabled: yes}",
        f"hearth:llm.enabled: {TRUTH}",
    ),
    (
        "a text in quotes where a truth belongs",
        'hearth:llm: {enabled: "yes"}',
        "hearth:llm.enabled: must be true or false, and is a text. Write true or false without quotes.",
    ),
    (
        "a large number",
        "hearth:llm: {enabled: true, gateway: {replicas: 99999999999999999999999999999999}}",
        "hearth:llm.gateway.replicas: is too large a number. Put it in quotes if it is a text.",
    ),
    (
        "a tag",
        "hearth:llm: !!python/object/apply:os.system {enabled: true}",
        "hearth:llm: has a YAML tag. Remove the tag; put a text in quotes instead.",
    ),
    (
        "a tagged text",
        'hearth:llm: {enabled: !!bool "true"}',
        "hearth:llm.enabled: has a YAML tag. Remove the tag; put a text in quotes instead.",
    ),
    (
        "a duplicate key",
        "hearth:llm: {enabled: true, enabled: false}",
        "hearth:llm.enabled: is there twice. Keep one of the two.",
    ),
    (
        "a duplicate claim key",
        "hearth:llm: {enabled: true}\n  hearth:llm: {enabled: false}",
        "hearth:llm: is there twice. Keep one of the two.",
    ),
    (
        "an encrypted value",
        "hearth:llm: {secure: AAABAPlanted}",
        "hearth:llm: is an encrypted value, and a claim holds no secrets. Write a reference "
        "credential://<scope>/<name>, and keep the secret where references resolve.",
    ),
    (
        "half a character",
        'hearth:llm: {enabled: true}\n  hearth:tenants: {a: {models: ["\\uD800"]}}',
        "YAML: is broken before or at this place. Check indentation, quotes and brackets.",
    ),
    (
        "an unknown key",
        "hearth:llm: {enabled: true}\n  hearth:zzz: {}",
        f"hearth:zzz: is not a configuration key of Hearth. {KEYS}",
    ),
    (
        "a misspelt key",
        "hearth:llm: {enabled: true}\n  hearth:tenant: {}",
        "hearth:tenant: is not a configuration key of Hearth. Did you mean hearth:tenants?",
    ),
    (
        "a path as a key",
        "hearth:llm: {enabled: true}\n  hearth:llm.enabled: true",
        "hearth:llm.enabled: is not a configuration key of Hearth. Did you mean hearth:llm?",
    ),
    (
        "a key without namespace",
        "hearth:llm: {enabled: true}\n  tenants: {}",
        "tenants: has no namespace. Write hearth:tenants.",
    ),
    (
        "a key that is not shown",
        "hearth:llm: {enabled: true}\n  hearth:(planted): {}",
        f"a key that is not shown: is not a configuration key of Hearth. {KEYS}",
    ),
]


@pytest.mark.parametrize(("name", "text", "expected"), VALUES, ids=[case[0] for case in VALUES])
def test_a_wrong_value_has_its_place(project: Path, name: str, text: str, expected: str) -> None:
    found = lines(project, f"config:\n  {text}\n".encode())
    assert len(found) == 1
    place, _, message = found[0].partition(": ")
    assert message == expected
    assert place.startswith("stacks/Pulumi.try.yaml:")
    assert "planted" not in found[0].lower()


def test_places_are_those_of_the_file(project: Path) -> None:
    content = (
        b"config:\n  hearth:llm:\n    enabled: 1\n    gateway:\n      replicas: 0\n      extra: 1\n"
        b"  hearth:policy: {evidence: maybe}\n"
    )
    assert [line.split(": ")[0] for line in lines(project, content)] == [
        "stacks/Pulumi.try.yaml:3:5",
        "stacks/Pulumi.try.yaml:5:7",
        "stacks/Pulumi.try.yaml:6:7",
        "stacks/Pulumi.try.yaml:7:19",
    ]


def test_a_missing_field_has_the_place_of_its_owner(project: Path) -> None:
    assert lines(project, b"config:\n  hearth:llm: {}\n") == [
        "stacks/Pulumi.try.yaml:2:3: hearth:llm.enabled: is missing. Add it: whether this environment has a gateway at "
        "all; without it the namespace does not exist."
    ]


def test_an_unreadable_value_hides_no_other_mistake(project: Path) -> None:
    content = (
        b"config:\n  hearth:llm: {enabled: true, gateway: {replicas: 1.5}, console: {enabled: true}}\n"
        b"  hearth:policy: {images: none}\n"
    )
    assert [line.split(": ")[1] for line in lines(project, content)] == [
        "hearth:llm.gateway.replicas",
        "hearth:llm.console.enabled",
        "hearth:policy.images",
    ]


def test_what_belongs_to_others_is_left_alone(project: Path) -> None:
    content = (
        b"encryptionsalt: v1:abc\nsecretsprovider: passphrase\n"
        b"config:\n  kubernetes:context: {secure: AAA}\n  pulumi:disable-default-providers: [1.5, 2026-01-01]\n"
        b"  hearth:llm: {enabled: true}\n"
    )
    assert lines(project, content) == []


def test_an_unknown_key_beside_config(project: Path) -> None:
    assert lines(project, MINIMAL + b"configs: {}\n") == [
        "stacks/Pulumi.try.yaml:3:1: configs: is not a key of a stack file. Did you mean config?"
    ]


def test_config_twice(project: Path) -> None:
    assert lines(project, MINIMAL + b"config: {}\n") == [
        "stacks/Pulumi.try.yaml:3:1: config: is there twice. Keep one of the two."
    ]


def test_an_environment_is_announced(project: Path) -> None:
    file = project / "stacks" / "Pulumi.try.yaml"
    file.write_bytes(b"environment: [corp]\n" + MINIMAL)
    assert [str(notice) for notice in load_claim_file(file).warnings] == [
        "environment: Pulumi alone reads this; what it sets under hearth: is not checked in this file."
    ]


def test_a_byte_order_mark_and_crlf_are_no_mistake(project: Path) -> None:
    assert lines(project, b"\xef\xbb\xbf" + MINIMAL.replace(b"\n", b"\r\n")) == []


@pytest.mark.parametrize("key", ["010", "8", "1.0", "1e3", "null", "~", "true", "off", "y", "N", "2026-01-01", "="])
def test_a_name_that_programs_read_differently_needs_quotes(project: Path, key: str) -> None:
    alias = "{deployments: [a], residency: [b]}"
    plain, quoted = (MINIMAL + f"  hearth:aliases: {{{name}: {alias}}}\n".encode() for name in (key, f'"{key}"'))
    message = ": is a name that YAML programs read differently. Put the name in quotes."
    found = lines(project, plain)
    assert [line for line in found if line.endswith(message) and ":3:20: hearth:aliases" in line] == found[:1]
    assert not [line for line in lines(project, quoted) if line.endswith(message)]


@pytest.mark.parametrize("word", ["off", "OFF", "no", "y", "On"])
def test_a_word_that_is_a_truth_for_some_needs_quotes(project: Path, word: str) -> None:
    content = MINIMAL + f"  hearth:policy: {{evidence: {word}}}\n".encode()
    assert lines(project, content) == [f"stacks/Pulumi.try.yaml:3:29: hearth:policy.evidence: {TRUTH}"]


def test_off_in_quotes_is_the_text_off(project: Path) -> None:
    file = project / "stacks" / "Pulumi.local.yaml"
    file.write_bytes(MINIMAL + b'  hearth:policy: {evidence: "off"}\n')
    assert load_claim_file(file).claim.policy.evidence == "off"


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda path: None, "there is no such file. Check the name and the folder."),
        (lambda path: path.mkdir(), "is not a file. Name a stack file, such as stacks/Pulumi.home.yaml."),
        (os.mkfifo, "is not a file. Name a stack file, such as stacks/Pulumi.home.yaml."),
        (
            lambda path: path.symlink_to("/dev/zero"),
            "is not a file. Name a stack file, such as stacks/Pulumi.home.yaml.",
        ),
        (
            lambda path: path.symlink_to(path),
            "cannot be read: Too many levels of symbolic links. Check the name and its permissions.",
        ),
    ],
)
def test_what_is_not_a_file(project: Path, make: object, expected: str) -> None:
    file = project / "stacks" / "Pulumi.try.yaml"
    make(file)  # type: ignore[operator]
    with pytest.raises(ClaimError) as refused:
        load_claim_file(file)
    assert str(refused.value) == f"stacks/Pulumi.try.yaml: {expected}"


@pytest.mark.parametrize("name", ["a\0b.yaml", "line\nbreak.yaml", "x" * 300 + ".yaml"])
def test_file_names_that_are_none(project: Path, name: str) -> None:
    with pytest.raises(ClaimError) as refused:
        load_claim_file(project / name)
    assert len(str(refused.value).splitlines()) == 1


def test_the_stack_and_the_folder_come_from_the_name(project: Path) -> None:
    file = project / "stacks" / "Pulumi.try-1.yaml"
    file.write_bytes(MINIMAL)
    loaded = load_claim_file(file)
    assert (loaded.stack, loaded.base) == ("try-1", project)
    other = project / "claim.yaml"
    other.write_bytes(MINIMAL)
    assert load_claim_file(other).stack == "claim"


def test_project_folder(project: Path) -> None:
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    assert project_folder(inner) == project
    assert project_folder(inner / ".." / "c") == project


NO_ENVIRONMENTS = ["../home", "Home", "home_2", "home.eu", "1home", "home-", "a--b", "a" * 41, "häuser", "home\n"]


@pytest.mark.parametrize("name", NO_ENVIRONMENTS)
def test_the_name_of_an_environment_has_one_alphabet(tmp_path: Path, name: str) -> None:
    """In the claim, as the name of the stack that stands for it, on a command line, and in a signed document."""
    assert not is_environment_name(name)
    with pytest.raises(ValidationError):
        TypeAdapter(Identifier).validate_python(name)
    for values, stack in (({}, name), ({"hearth:environment": name}, "home")):
        with pytest.raises(ClaimError, match=r"hearth:environment: is (not well-formed|longer than 40)"):
            load_claim_values({"hearth:llm": '{"enabled": true}', **values}, base=tmp_path, stack=stack)


@pytest.mark.parametrize("name", ["a", "home", "home-2", "t-evidence", "a" * 40])
def test_every_environment_that_evidence_can_name_can_be_deployed(tmp_path: Path, name: str) -> None:
    assert is_environment_name(name)
    assert TypeAdapter(Identifier).validate_python(name) == name
    assert load_claim_values({"hearth:llm": '{"enabled": true}'}, base=tmp_path, stack=name).environment == name


def test_stack_names(project: Path) -> None:
    for name in ("home", "production"):
        (project / "stacks" / f"Pulumi.{name}.yaml").write_bytes(MINIMAL)
    assert stack_file("home", project) == project / "stacks" / "Pulumi.home.yaml"
    for name, expected in (
        ("hmoe", "stack hmoe: there is no file stacks/Pulumi.hmoe.yaml. Did you mean home?"),
        ("zzz", "stack zzz: there is no file stacks/Pulumi.zzz.yaml. Stacks here: home, production."),
        (
            "../home",
            "stack: is not a stack name: lower-case letters, digits and single hyphens. Stacks here: home, production.",
        ),
        (
            "",
            "stack: is not a stack name: lower-case letters, digits and single hyphens. Stacks here: home, production.",
        ),
    ):
        with pytest.raises(ClaimError) as refused:
            stack_file(name, project)
        assert str(refused.value) == expected


def test_values_from_pulumi_may_be_json_text(tmp_path: Path) -> None:
    loaded = load_claim_values(
        {"hearth:llm": '{"enabled": true}', "kubernetes:context": "x"}, base=tmp_path, stack="home"
    )
    assert loaded.claim.llm.enabled
    for text in ('{"enabled": true', '{"a": 1, "a": 2}', '{"a": 1.5}', '{"a": NaN}', "[" * 100000, "planted"):
        with pytest.raises(ClaimError) as refused:
            load_claim_values({"hearth:llm": text}, base=tmp_path, stack="home")
        assert str(refused.value) == (
            "hearth:llm: is not JSON of text, whole numbers, lists and mappings. Write it in the stack file."
        )


def test_half_a_character(tmp_path: Path) -> None:
    with pytest.raises(ClaimError) as refused:
        load_claim_values(
            {"hearth:llm": {"enabled": True}, "hearth:tenants": {"a": {"models": ["\ud800"]}}}, base=tmp_path, stack="x"
        )
    assert str(refused.value) == "hearth:tenants.a.models[0]: holds half a character. Write the text again."


def test_values_that_no_json_has(tmp_path: Path) -> None:
    deep: object = []
    for _ in range(100):
        deep = [deep]
    for value in ({"enabled": 1.0}, {"enabled": object()}, {"enabled": b"x"}, {"enabled": True, "instances": deep}):
        with pytest.raises(ClaimError):
            load_claim_values({"hearth:llm": value}, base=tmp_path, stack="home")


@pytest.mark.parametrize("name", ["Pulumi.a\x1b[31m.yaml", "new\nline.yaml", "Pulumi....yaml", "\udcff.yaml"])
def test_the_name_of_a_stack_is_one_that_can_be_printed_and_is_no_path(project: Path, name: str) -> None:
    file = project / "stacks" / name
    file.write_text("config:\n  hearth:llm: {enabled: true}\n")
    with pytest.raises(ClaimError) as refused:
        load_claim_file(file)
    (problem,) = refused.value.problems
    assert problem.message == "has a name that is not that of a stack file"
    assert str(problem).isprintable()

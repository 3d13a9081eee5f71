"""What the look reads, and which answers give the roles something to do."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from tests.support.collection import plugin
from tests.support.pki import Authority

ROOT = Path(__file__).parents[3]
NOW = 1_800_000_000.0
OPTIONS = {
    "common_clock_tolerance_seconds": 120,
    "common_free_bytes": 1,
    "edge_firewall_allowed": [],
    "edge_firewall_enabled": True,
    "edge_firewall_shut": [],
    "edge_firewall_ssh_sources": [],
    "llama_cpp_gpu": "none",
    "ollama_gpu": "none",
    "connection": "ssh",
    "issued_here": False,
}
RUNTIME = {"unit": "hearth-llama-cpp-a", "name": "a", "engine": "llamaCpp", "port": 8081, "address": "127.0.0.1"}
SIDECAR = {"endpoint": "a", "unit": "hearth-sidecar-a", "port": 8443, "host": "a.test", "trust_bundle": "ca"}
MODEL = {"source": "file", "location": "/srv/model.gguf"}
GOOD = {
    "the host": "ahead=0\n",
    "who listens": "",
    "the firewall": "ssh=22\ntable=hearth_edge\nopen=tcp 8443\n",
    "the rules": "same\n",
    "units of endpoints that left": "",
    "what hearth-llama-cpp-a was started with": "",
    "what hearth-sidecar-a was started with": "",
    "the files of a": "{}",
    "what hearth-sidecar-a has read": "",
    "who may read /srv/model.gguf": "",
}


@pytest.fixture(scope="module")
def looking() -> Any:
    return plugin("plugin_utils.look")


@pytest.fixture
def look(looking: Any) -> Any:
    plan = {
        "runtimes": [{**RUNTIME, "models": [MODEL]}],
        "sidecars": [SIDECAR],
        "open_ports": [{"port": 8443, "sources": []}],
        "bundles": {},
    }
    return looking.Look(plan, False, OPTIONS, NOW)


def test_the_questions_are_those_that_the_good_answers_are_to(looking: Any, look: Any) -> None:
    assert set(looking.questions(look)) == set(GOOD)
    assert looking.judged(look, GOOD) == []


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("the host", "ahead=121\n"),
        ("the host", "ahead=-121\n"),
        ("the host", ""),
        ("the host", "ahead=0\nfull=/opt\n"),
        ("the host", "ahead=0\ntaken=hearth-sidecar-a.service port 8443 is in use\n"),
        ("the host", "ahead=0\nsettings=/run/systemd/system/x.d/y\n"),
        ("the host", "ahead=0\ndisplaced=a b\n"),
        ("the host", "ahead=0\n\nfailed 1"),
        ("the firewall", "table=hearth_edge\nbad=x\n"),
        ("the firewall", "table=hearth_edge\nforeign=ufw\n"),
        ("the firewall", "table=hearth_edge\nlocked=192.0.2.1\n"),
        ("the firewall", "table=hearth_edge\nopen=tcp 80\nlistening=tcp 80 nginx\n"),
        ("the firewall", "listening=tcp 80 nginx\n"),
        ("the rules", "\nfailed 1"),
        ("the rules", ""),
        ("units of endpoints that left", "unit=hearth-ollama-b.service\n"),
        ("what hearth-llama-cpp-a was started with", "other\n"),
        ("what hearth-sidecar-a has read", "other\n"),
        ("who may read /srv/model.gguf", "may not be read by others\n"),
        ("who listens", "missing"),
    ],
)
def test_an_answer_that_is_wrong_by_itself(looking: Any, look: Any, name: str, answer: str) -> None:
    assert looking.judged(look, {**GOOD, name: answer}) != []


def test_a_service_that_came_after_the_rules_is_shut_and_no_drift(looking: Any, look: Any) -> None:
    answers = {**GOOD, "the firewall": "table=hearth_edge\nlistening=tcp 80 nginx\n"}
    assert looking.judged(look, answers) == []
    assert [one["name"] for one in looking.shut(look, answers["the firewall"].splitlines())["shut"]] == ["80/tcp"]


def test_nobody_guesses_where_the_run_comes_from(looking: Any, look: Any) -> None:
    narrow = dataclasses.replace(look, options={**OPTIONS, "edge_firewall_ssh_sources": ["192.0.2.0/24"]})
    assert looking.judged(narrow, GOOD) == ["the firewall: nobody says where this run is connected from"]
    assert looking.judged(narrow, {**GOOD, "the firewall": f"{GOOD['the firewall']}client=192.0.2.1\n"}) == []


def test_a_firewall_that_is_off_is_not_judged(looking: Any, look: Any) -> None:
    off = dataclasses.replace(look, options={**OPTIONS, "edge_firewall_enabled": False})
    assert looking.judged(off, {**GOOD, "the rules": "\nfailed 1", "the firewall": "foreign=ufw\n"}) == [
        "the rules: the question failed"
    ]
    assert "hearth-firewall.service" not in off.units


def test_a_gpu_is_asked_for_again(looking: Any, look: Any) -> None:
    gpu = dataclasses.replace(look, options={**OPTIONS, "llama_cpp_gpu": "nvidia"})
    asked = looking.questions(gpu)
    assert asked["what hearth-llama-cpp-a computes with"]["compared"] == "."
    assert asked["the devices of the GPU (nvidia)"]["compared"] == "."


def test_a_model_server_of_somebody_else_is_only_listened_for(looking: Any, look: Any) -> None:
    other = dataclasses.replace(look, existing=True)
    assert other.units == ["hearth-firewall.service", "hearth-sidecar-a.service"]
    asked = looking.questions(other)
    assert "8443|8081" in asked["who listens"]["compared"]
    assert not any("llama-cpp-a" in name for name in asked)


def present(certificate: str, *edited: str) -> dict[str, str]:
    return {"the files of a": json.dumps({"certificate": certificate, "edited": list(edited)})}


@pytest.fixture
def site(looking: Any, look: Any, tmp_path: Path) -> tuple[Any, Authority]:
    """A look at a host whose certificate is of the site's authority, by today's clock."""
    authority = Authority("site")
    folder = tmp_path / "ca/0001"
    folder.mkdir(parents=True)
    (folder / "ca.pem").write_text(authority.pem)
    days = {"local_ca_renew": False, "local_ca_renew_days": 1, "local_ca_warn_days": 0}
    plan = {**look.plan, "bundles": {"ca": authority.pem}}
    now = looking.time.time()
    options = {**OPTIONS, **days, "issued_here": True, "authorities": tmp_path}
    return looking.Look(plan, False, options, now), authority


def test_a_certificate_that_works(looking: Any, site: tuple[Any, Authority]) -> None:
    look, authority = site
    texts, ends, prints = looking.certificates(look, present(authority.issue(x509.DNSName("a.test"))[0]))
    assert texts == []
    assert set(ends) == set(prints) == {"a"}


def test_a_certificate_that_does_not(looking: Any, site: tuple[Any, Authority]) -> None:
    look, authority = site
    name = x509.DNSName("a.test")
    good = authority.issue(name)[0]
    later = {**look.options, "local_ca_renew_days": 100_000}
    ends = {**look.options, "local_ca_warn_days": 100_000}
    asked = {**look.options, "local_ca_renew": True}
    cases = {
        "expired": (look, present(authority.issue(name, days=-1)[0])),
        "another name": (look, present(authority.issue(x509.DNSName("b.test"))[0])),
        "another authority": (look, present(Authority("other").issue(name)[0])),
        "none": (look, present("")),
        "edited": (look, present(good, "sidecar.cfg")),
        "unreadable": (look, {"the files of a": "Traceback"}),
        "due": (dataclasses.replace(look, options=later), present(good)),
        "the authority ends": (dataclasses.replace(look, options=ends), present(good)),
        "asked for": (dataclasses.replace(look, options=asked), present(good)),
    }
    assert [name for name, (one, answers) in cases.items() if not looking.certificates(one, answers)[0]] == []


def test_an_authority_that_is_not_here(looking: Any, site: tuple[Any, Authority], tmp_path: Path) -> None:
    look, authority = site
    (tmp_path / "ca/0001/ca.pem").unlink()
    texts, _, _ = looking.certificates(look, present(authority.issue(x509.DNSName("a.test"))[0]))
    assert texts == ["the certificate of a: no authority of its bundle is on this control host"]


def test_every_option_of_the_roles_decides_or_is_known_not_to(looking: Any) -> None:
    names = {
        name
        for file in (ROOT / "roles").glob("*/defaults/main.yml")
        for name in yaml.safe_load(file.read_text(encoding="utf-8"))
    }
    assert set(looking.deciding(sorted(names))) == names - looking.UNREAD


def test_an_identity_of_another_configuration(looking: Any) -> None:
    sidecar = {"files_sha256": "1"}

    def said(files: str, certificate: str) -> str:
        return json.dumps({"filesSha256": files, "certificate": {"sha256": certificate}})

    assert looking.wrong_answer(sidecar, "/sidecar/identity", said("1", "2"), "2") == ""
    assert looking.wrong_answer(sidecar, "/sidecar/identity", said("2", "2"), "2") != ""
    assert looking.wrong_answer(sidecar, "/sidecar/identity", said("1", "3"), "2") != ""
    assert looking.wrong_answer(sidecar, "/sidecar/identity", "[]", "2") != ""

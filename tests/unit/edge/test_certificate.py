"""The lookup that reads a certificate on the control host: it says what is wrong with one."""

import importlib.util
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import ModuleType

import pytest
from cryptography import x509

from tests.support.pki import Authority

FILE = Path(__file__).parents[3] / "plugins/lookup/certificate.py"
NAMES = (x509.DNSName("gpu.lan.test"), x509.IPAddress(ip_address("fd00::1")))


@pytest.fixture(scope="module")
def plugin() -> ModuleType:
    spec = importlib.util.spec_from_file_location("certificate", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("site CA")


def test_a_good_certificate_says_what_it_is(plugin: ModuleType, authority: Authority) -> None:
    certificate, key = authority.issue(*NAMES, days=10)
    found = plugin.read(certificate, key, authority.pem)
    assert found["readable"]
    assert found["names"] == ["DNS:gpu.lan.test", "IP:fd00::1"]
    assert not found["expired"]
    end = datetime.strptime(found["not_after"], "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    assert abs(end - datetime.now(UTC) - timedelta(days=10)) < timedelta(hours=1)
    assert len(found["fingerprint"]) == 64
    assert (found["key"], found["unverified"]) == ("", "")
    assert plugin.read(authority.pem, None, None)["subject_key"] == found["authority_key"] != ""


@pytest.mark.parametrize("text", ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
def test_what_is_no_certificate_is_not_readable(plugin: ModuleType, text: str) -> None:
    assert plugin.read(text, "", "") == {"readable": False}


def test_the_end_has_passed(plugin: ModuleType, authority: Authority) -> None:
    assert plugin.read(authority.issue(*NAMES, days=-1)[0], None, None)["expired"]


@pytest.mark.parametrize(("key", "said"), [("", "unreadable"), ("no key", "unreadable"), (None, "")])
def test_a_key_that_is_none(plugin: ModuleType, authority: Authority, key: str | None, said: str) -> None:
    assert plugin.read(authority.issue(*NAMES)[0], key, None)["key"] == said


def test_another_key(plugin: ModuleType, authority: Authority) -> None:
    assert plugin.read(authority.issue(*NAMES)[0], authority.issue(*NAMES)[1], None)["key"] == "other"


@pytest.mark.parametrize("bundle", ["", "no bundle", Authority("another CA").pem], ids=["empty", "text", "another"])
def test_a_bundle_that_does_not_hold_its_authority(plugin: ModuleType, authority: Authority, bundle: str) -> None:
    found = plugin.read(authority.issue(*NAMES)[0], None, bundle)
    assert found["unverified"] != ""
    assert "/tmp" not in found["unverified"]

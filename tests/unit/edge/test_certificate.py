"""The lookup that reads a certificate on the control host: it says what is wrong with one."""

import importlib.util
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import ModuleType

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

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


@pytest.mark.parametrize(
    ("names", "name", "covered"),
    [
        ((x509.DNSName("gpu.lan.test"),), "GPU.lan.test", True),
        ((x509.DNSName("*.lan.test"),), "gpu.lan.test", True),
        ((x509.DNSName("*.lan.test"),), "a.gpu.lan.test", False),
        ((x509.DNSName("*.lan.test"),), "lan.test", False),
        ((x509.IPAddress(ip_address("fd00::1")),), "fd00:0::1", True),
        ((x509.DNSName("10.0.0.1"),), "10.0.0.1", False),
    ],
)
def test_which_names_a_certificate_is_for(
    plugin: ModuleType, authority: Authority, names: tuple[x509.GeneralName, ...], name: str, covered: bool
) -> None:
    found = plugin.read(authority.issue(*names)[0], None, authority.pem, name)
    assert (found["covers"], found["unverified"]) == (covered, "")


def made(
    subject: str, issuer: str, keys: tuple[ec.EllipticCurvePrivateKey, ...], *extensions: x509.ExtensionType
) -> str:
    """A certificate with these extensions alone, none of them critical; the keys are its own and its issuer's."""
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in (subject, issuer)]
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(names[1], names[0], keys[0].public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=9))
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(keys[1], SHA256()).public_bytes(Encoding.PEM).decode()


CA = x509.BasicConstraints(ca=True, path_length=None)
SERVER = x509.SubjectAlternativeName([x509.DNSName("gpu.lan.test")])
SIGNS_NO_CERTIFICATES = x509.KeyUsage(True, False, False, False, False, False, False, False, False)
CLIENT = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])


@pytest.mark.parametrize(
    ("above", "own", "cause"),
    [
        # what HAProxy takes, and a stricter client would not: no key identifiers, and nothing critical
        ([CA], [SERVER], ""),
        ([x509.BasicConstraints(ca=False, path_length=None)], [SERVER], "basicConstraints.cA must be asserted"),
        ([CA, SIGNS_NO_CERTIFICATES], [SERVER], "key usage is not to sign certificates"),
        ([CA], [SERVER, CLIENT], "extended key usage is not that of a server"),
        ([CA, x509.NameConstraints([x509.DNSName("other.test")], None)], [SERVER], "no permitted name constraints"),
        ([CA], [], "carries no subject alternative name"),
    ],
    ids=["lenient", "no authority", "signs nothing", "client", "constrained", "nameless"],
)
def test_a_chain_is_verified_as_haproxy_does(
    plugin: ModuleType, above: list[x509.ExtensionType], own: list[x509.ExtensionType], cause: str
) -> None:
    root, middle, leaf = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    bundle = made("root", "root", (root, root), CA)
    between = made("between", "root", (middle, root), *above)
    chain = made("leaf", "between", (leaf, middle), *own) + between
    said = plugin.read(chain, None, bundle)["unverified"]
    assert (cause in said) if cause else said == ""
    assert plugin.read(made("leaf", "between", (leaf, middle), SERVER), None, bundle)["unverified"] != ""
    assert plugin.read(chain, None, between)["unverified"] == "the trust bundle holds no root"

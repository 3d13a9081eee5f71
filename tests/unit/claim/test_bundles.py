"""Trust bundles are CA certificates by version and digest (S4-54, S4-55)."""

import copy
import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hearth.claim.loader import LoadedClaim, load_claim_values
from hearth.claim.problems import ClaimError

KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(ca: bool | None = True) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2056, 1, 1, tzinfo=UTC))
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


PRIVATE_KEY = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)


def check(
    project: Path, *, version: int = 1, digest: str | None = None, deployed: LoadedClaim | None = None
) -> LoadedClaim:
    file = project / "trust" / "ca.pem"
    found = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "0" * 64
    bundle = {"version": version, "file": "trust/ca.pem", "sha256": digest or found}
    values = {"hearth:llm": {"enabled": True}, "hearth:trustBundles": {"ca": bundle}}
    return load_claim_values(
        copy.deepcopy(values), base=project, stack="test", deployed=deployed.claim if deployed else None
    )


def refusal(project: Path, **more: object) -> str:
    with pytest.raises(ClaimError) as refused:
        check(project, **more)  # type: ignore[arg-type]
    return str(refused.value)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "trust").mkdir()
    (tmp_path / "trust" / "ca.pem").write_bytes(b"# ours\n" + certificate() + certificate())
    return tmp_path


def test_the_bundle_is_given_byte_for_byte(project: Path) -> None:
    assert check(project).bundles == {"ca": (project / "trust" / "ca.pem").read_text()}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            certificate() + PRIVATE_KEY,
            "holds a private key. Remove it from the project and its history, and replace the CA.",
        ),
        (
            b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n",
            "holds a private key. Remove it from the project and its history, and replace the CA.",
        ),
        (b"", "holds something other than certificates. Keep CERTIFICATE blocks in it and nothing else."),
        (
            certificate() + b"-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n",
            "holds something other than certificates. Keep CERTIFICATE blocks in it and nothing else.",
        ),
        (
            certificate(ca=False),
            "holds a certificate that is not a CA's. Put in the CA that issues the server's certificate.",
        ),
        (
            certificate() + certificate(ca=None),
            "holds a certificate that is not a CA's. Put in the CA that issues the server's certificate.",
        ),
        (
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "holds a certificate that cannot be read. Export it again as PEM.",
        ),
        (
            "# für\n".encode() + certificate(),
            "is not PEM text. Write the CA certificates as PEM, with nothing outside ASCII.",
        ),
        (
            certificate() + b"#" * 1_048_576,
            "names a file that is larger than 1 MiB. Keep CA certificates in it and nothing else.",
        ),
    ],
)
def test_what_is_no_bundle(project: Path, content: bytes, expected: str) -> None:
    (project / "trust" / "ca.pem").write_bytes(content)
    assert refusal(project) == f"hearth:trustBundles.ca.file: {expected}"


def test_a_digest_of_other_bytes(project: Path) -> None:
    assert refusal(project, digest="1" * 64) == (
        "hearth:trustBundles.ca.sha256: is not the digest of the file. Raise version and write what sha256sum prints, "
        "if the change is meant."
    )


def test_a_file_that_is_not_there(project: Path) -> None:
    (project / "trust" / "ca.pem").unlink()
    assert refusal(project) == (
        "hearth:trustBundles.ca.file: names no file of the project's folder. Correct the path, or add the file."
    )


def test_a_link_out_of_the_project(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "ca.pem"
    outside.write_bytes(certificate())
    (project / "trust" / "ca.pem").unlink()
    (project / "trust" / "ca.pem").symlink_to(outside)
    assert refusal(project) == (
        "hearth:trustBundles.ca.file: leads out of the project's folder. Put the file into the project."
    )


def test_other_bytes_need_a_higher_version(project: Path) -> None:
    deployed = check(project, version=2)
    assert check(project, version=2, deployed=deployed).bundles
    assert refusal(project, version=1, deployed=deployed) == (
        "hearth:trustBundles.ca.version: is below the deployed version 2. Versions go up alone."
    )
    (project / "trust" / "ca.pem").write_bytes(certificate())
    assert refusal(project, version=2, deployed=deployed) == (
        "hearth:trustBundles.ca.version: is that of other bytes, which are deployed. Write 3."
    )
    assert check(project, version=3, deployed=deployed).bundles

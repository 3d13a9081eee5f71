"""Secrets that the deployment makes itself: random values, a certificate authority, certificates.

They are made once, in the provider's process, and kept encrypted in Pulumi's state; nothing else has them. A new
`generation` makes a new value, and the objects named by its content follow.
"""

import datetime
import secrets
from typing import Any, ClassVar, Final

import pulumi
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider

AUTHORITY_DAYS: Final = 3650
"""Days that the certificate authority is valid for."""
CERTIFICATE_DAYS: Final = 180
"""Days that a certificate is valid for."""
RENEW_DAYS: Final = 60
"""Days before the end at which `pulumi up` makes a new certificate."""


class _Made(ResourceProvider):
    """What a made value has in common: it never changes, and a change of what it is made from replaces it."""

    # What is kept of a provider is the name of its class, and no secret.
    serialize_as_secret_always = False

    inputs: ClassVar[tuple[str, ...]] = ()

    def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> DiffResult:
        replaces = [key for key in self.inputs if _olds.get(key) != _news.get(key)]
        expiry = _olds.get("not_after")
        if expiry:
            left = datetime.datetime.fromisoformat(expiry) - datetime.datetime.now(datetime.UTC)
            if left < datetime.timedelta(days=RENEW_DAYS):
                replaces.append("not_after")
        return DiffResult(changes=bool(replaces), replaces=replaces, delete_before_replace=False)


class _RandomProvider(_Made):
    inputs: ClassVar[tuple[str, ...]] = ("prefix", "generation")

    def create(self, props: dict[str, Any]) -> CreateResult:
        value = props["prefix"] + secrets.token_hex(32)
        return CreateResult(id_=secrets.token_hex(8), outs={**props, "value": value})


class RandomSecret(Resource, module="hearth", name="RandomSecret"):
    """32 random bytes as hexadecimal digits, after a prefix."""

    value: pulumi.Output[str]
    """The secret."""

    def __init__(
        self, name: str, *, prefix: str = "", generation: int = 1, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        hidden = pulumi.ResourceOptions(additional_secret_outputs=["value"])
        super().__init__(
            _RandomProvider(),
            name,
            {"prefix": prefix, "generation": generation, "value": None},
            pulumi.ResourceOptions.merge(opts, hidden),
        )


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def _name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Hearth"),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name[:64]),
        ]
    )


def _builder(subject: str, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: int) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _made(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey, props: dict[str, Any]) -> CreateResult:
    return CreateResult(
        id_=f"{certificate.serial_number:x}",
        outs={
            **props,
            "certificate": certificate.public_bytes(serialization.Encoding.PEM).decode(),
            "private_key": _pem(key),
            "not_after": certificate.not_valid_after_utc.isoformat(),
        },
    )


class _AuthorityProvider(_Made):
    inputs: ClassVar[tuple[str, ...]] = ("common_name", "generation")

    def create(self, props: dict[str, Any]) -> CreateResult:
        key = ec.generate_private_key(ec.SECP256R1())
        usage = x509.KeyUsage(
            digital_signature=False,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        certificate = (
            _builder(props["common_name"], _name(props["common_name"]), key.public_key(), AUTHORITY_DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        return _made(certificate, key, props)


class CertificateAuthority(Resource, module="hearth", name="CertificateAuthority"):
    """The CA of the endpoints in Hearth's own Pods. Its key is in Pulumi's state alone, encrypted (S4-57, S4-61)."""

    certificate: pulumi.Output[str]
    """Its certificate as PEM."""
    private_key: pulumi.Output[str]
    """Its key as PEM."""

    def __init__(
        self, name: str, common_name: str, *, generation: int = 1, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        hidden = pulumi.ResourceOptions(additional_secret_outputs=["private_key"])
        made = {"certificate": None, "private_key": None, "not_after": None}
        super().__init__(
            _AuthorityProvider(),
            name,
            {"common_name": common_name, "generation": generation, **made},
            pulumi.ResourceOptions.merge(opts, hidden),
        )


class _CertificateProvider(_Made):
    inputs: ClassVar[tuple[str, ...]] = ("host", "generation", "authority_certificate")

    def create(self, props: dict[str, Any]) -> CreateResult:
        issuer_key = serialization.load_pem_private_key(props["authority_key"].encode(), password=None)
        if not isinstance(issuer_key, ec.EllipticCurvePrivateKey):
            raise TypeError("the certificate authority's key is not an elliptic-curve key")
        issuer = x509.load_pem_x509_certificate(props["authority_certificate"].encode())
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(props["host"], issuer.subject, key.public_key(), CERTIFICATE_DAYS)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(props["host"])]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .sign(issuer_key, hashes.SHA256())
        )
        return _made(certificate, key, props)


class Certificate(Resource, module="hearth", name="Certificate"):
    """A server certificate of an endpoint in a Pod. `pulumi up` renews it when it has `RENEW_DAYS` left."""

    certificate: pulumi.Output[str]
    """The certificate as PEM."""
    private_key: pulumi.Output[str]
    """Its key as PEM."""

    def __init__(
        self,
        name: str,
        host: str,
        authority: CertificateAuthority,
        *,
        generation: int = 1,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        hidden = pulumi.ResourceOptions(additional_secret_outputs=["private_key", "authority_key"])
        super().__init__(
            _CertificateProvider(),
            name,
            {
                "host": host,
                "generation": generation,
                "authority_certificate": authority.certificate,
                "authority_key": authority.private_key,
                "certificate": None,
                "private_key": None,
                "not_after": None,
            },
            pulumi.ResourceOptions.merge(opts, hidden),
        )

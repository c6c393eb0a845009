"""A server behind TLS, as in production. Its certificate is signed by an authority made for the run."""

import datetime as dt
import ipaddress
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from django.conf import settings

from tests.support import second, server

_AUTHORITY = "Authority of the tests"
_KEY_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


@dataclass(frozen=True)
class Secured:
    """Where the server is, and the file with the authority that vouches for it."""

    address: str
    authority: Path

    def client(self) -> httpx.Client:
        # Behind one answer of an application there may be several of ours.
        return httpx.Client(verify=ssl.create_default_context(cafile=str(self.authority)), timeout=30)


@contextmanager
def running(folder: Path, **environment: str) -> Iterator[Secured]:
    """Serve at ``https://localhost``, with the issuer saying so."""
    behind, port = second.free_port(), second.free_port()
    secured = Secured(f"https://localhost:{port}", folder / "authority.pem")
    _write_certificates(folder)
    front = subprocess.Popen(
        [sys.executable, "-m", "tests.support.tls_front", str(port), str(behind), folder / "server.pem"],
        cwd=settings.BASE_DIR,
    )
    try:
        with server.running(
            **({"PORT": str(behind), "BASE_URL": secured.address, "WEB_CONCURRENCY": "1"} | environment)
        ):
            _wait_for(secured)
            yield secured
    finally:
        front.terminate()
        front.wait(20)


def _wait_for(secured: Secured) -> None:
    deadline = time.monotonic() + 20
    with secured.client() as client:
        while True:
            try:
                client.get(f"{secured.address}/.well-known/jwks.json")
            except httpx.TransportError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return


def _write_certificates(folder: Path) -> None:
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    leaf = _leaf(key, authority_key).public_bytes(Encoding.PEM)
    (folder / "authority.pem").write_bytes(_authority(authority_key).public_bytes(Encoding.PEM))
    (folder / "server.pem").write_bytes(private + leaf)


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    return (
        _begun(_AUTHORITY, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_for("key_cert_sign", "crl_sign"), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _leaf(key: ec.EllipticCurvePrivateKey, authority: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    return (
        _begun("localhost", key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_for("digital_signature"), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(signer, critical=False)
        .sign(authority, hashes.SHA256())
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _begun(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(_named(_AUTHORITY))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
    )


def _for(*usages: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{usage: usage in usages for usage in _KEY_USAGES})

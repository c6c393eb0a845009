"""The peer: ``oidc-provider`` of npm, with a database of its own on the same PostgreSQL server.

The program of the peer is in ``bench/peer``. The peer gets as many users as Gatehouse, with hashes of the
same cost, and clients of the same kind.
"""

import base64
import json
import secrets
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import argon2
import psycopg
from joserfc.jwk import ECKey, RSAKey

from bench import processes
from bench.clients import Interface
from bench.databases import Database, new_database
from bench.servers import Target, free_port, start_server

PROCESSES: Final = (2, 1)
_FOLDER: Final = processes.BENCH / "peer"
_RESOURCE: Final = "https://api.example/"
_RS256_RESOURCE: Final = "https://rs256.example/"
_CALLBACK: Final = "https://rp.example/callback"
_INTERFACE: Final = Interface(
    authorize="/auth",
    sign_in="/sign-in",
    token="/token",  # noqa: S106 - a path
    userinfo="/me",
    jwks="/jwks",
    resource=_RESOURCE,
    resource_rs256=_RS256_RESOURCE,
    prompt="consent",
)
# The parameters of identity/users/passwords.py.
_HASHER: Final = argon2.PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_WEB_GRANTS: Final = ["authorization_code", "refresh_token"]
_GRANTS: Final = {"machine": ["client_credentials"], "web": _WEB_GRANTS, "web_rs256": _WEB_GRANTS}


@dataclass(frozen=True, slots=True)
class Peer:
    """The prepared peer."""

    database: Database
    environment: dict[str, str]
    folder: Path
    data: dict[str, Any]

    @contextmanager
    def serve(self, process_count: int) -> Iterator[Target]:
        """Run the peer with this many processes."""
        port = free_port()
        environment = self.environment | {"PORT": str(port), "PROCESSES": str(process_count)}
        command = [shutil.which("node") or "node", str(_FOLDER / "provider.mjs")]
        log = self.folder / "peer.log"
        with start_server(command, environment, port, _INTERFACE.discovery, log) as server:
            data = self.data | {"issuer": f"http://127.0.0.1:{server.port}"}
            yield Target(server, self.database, data)


def why_missing() -> str:
    """Return why the peer cannot run here, or an empty string if it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (_FOLDER / "node_modules").is_dir():
        return "its packages are not installed: npm ci --ignore-scripts --prefix bench/peer"
    return ""


def version() -> str:
    """Return the versions of the peer, its main packages and Node.js."""
    lock = json.loads((_FOLDER / "package-lock.json").read_text())["packages"]
    environment = processes.inherited_environment()
    node = processes.output_of(["node", "--version"], environment, timeout=10).strip()
    names = ("oidc-provider", "pg", "@node-rs/argon2")
    packages = ", ".join(f"{name} {lock[f'node_modules/{name}']['version']}" for name in names)
    return f"{packages}, Node.js {node}"


@contextmanager
def new_peer(folder: Path, usernames: list[str]) -> Iterator[Peer]:
    """Create the peer's database with users and clients, and drop it at the end."""
    password = secrets.token_urlsafe(12)
    credentials = {name: (name, secrets.token_urlsafe(32)) for name in _GRANTS}
    with new_database(folder, name="bench_peer") as database:
        with psycopg.connect(database.url) as connection:
            connection.execute((_FOLDER / "schema.sql").read_bytes())
            _create_users(connection, usernames, password)
            for name, secret in credentials.values():
                _create_client(connection, name, secret)
        data = {
            "prefix": "",
            **credentials,
            "redirect_uri": _CALLBACK,
            "usernames": usernames,
            "password": password,
            "interface": asdict(_INTERFACE),
        }
        yield Peer(database, _environment(database.url), folder, data)


def _environment(url: str) -> dict[str, str]:
    keys = (
        ECKey.generate_key("P-256", {"alg": "ES256", "use": "sig"}, auto_kid=True),
        RSAKey.generate_key(2048, {"alg": "RS256", "use": "sig"}, auto_kid=True),
    )
    return processes.inherited_environment() | {
        "NODE_ENV": "production",
        "DATABASE_URL": url,
        "JWKS": json.dumps({"keys": [key.as_dict(private=True) for key in keys]}),
        "COOKIE_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
        "RESOURCE": _RESOURCE,
        "RS256_RESOURCE": _RS256_RESOURCE,
    }


def _create_users(connection: psycopg.Connection, names: list[str], password: str) -> None:
    rows = [(str(uuid.uuid4()), name, _HASHER.hash(password), name, f"{name}@rp.example") for name in names]
    connection.cursor().executemany("INSERT INTO person VALUES (%s, %s, %s, %s, %s)", rows)


def _create_client(connection: psycopg.Connection, name: str, secret: str) -> None:
    is_web = name != "machine"
    client = {
        "client_id": name,
        "client_secret": secret,
        "grant_types": _GRANTS[name],
        "redirect_uris": [_CALLBACK] if is_web else [],
        "response_types": ["code"] if is_web else [],
        "id_token_signed_response_alg": "RS256" if name == "web_rs256" else "ES256",
    }
    connection.execute(
        "INSERT INTO oidc_payload (model, id, payload) VALUES ('Client', %s, %s)", [name, json.dumps(client)]
    )

"""The provider that is measured beside ours: ``oidc-provider`` of npm, on a database of its own.

``bench/peer`` is the program. It gets as many people as ours, whose hashes cost the same, and
clients of the same kind; it keeps everything in the database server that ours uses.
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
import stage
from clients import Interface
from joserfc.jwk import ECKey

FOLDER: Final = stage.BENCH / "peer"
PROCESSES: Final = (2, 1)
_RESOURCE: Final = "https://api.example/"
_CALLBACK: Final = "https://rp.example/callback"
_INTERFACE: Final = Interface(
    authorize="/auth",
    sign_in="/sign-in",
    token="/token",  # noqa: S106 - a path
    userinfo="/me",
    jwks="/jwks",
    resource=_RESOURCE,
    prompt="consent",
)
# As identity/users/passwords.py has them.
_ARGON2: Final = argon2.PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is needed to start it and to be its client."""

    database: stage.Database
    environment: dict[str, str]
    place: Path
    world: dict[str, Any]

    @contextmanager
    def server(self, processes: int) -> Iterator[stage.Server]:
        """Run it with so many processes."""
        port = stage.free_port()
        environment = self.environment | {"PORT": str(port), "PROCESSES": str(processes)}
        node = shutil.which("node")
        assert node is not None
        command = [node, str(FOLDER / "provider.mjs")]
        log = self.place / "beside.log"
        with stage.answering(command, environment, port, _INTERFACE.discovery, log) as server:
            yield server

    def world_of(self, server: stage.Server) -> dict[str, Any]:
        """Return what clients of this server have to know."""
        return self.world | {"issuer": f"http://127.0.0.1:{server.port}"}


def missing() -> str:
    """Say why it cannot run here, or nothing if it can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (FOLDER / "node_modules").is_dir():
        return "its packages are not installed: npm ci --ignore-scripts --prefix bench/peer"
    return ""


def version() -> str:
    """Name it, and what it runs on."""
    lock = json.loads((FOLDER / "package-lock.json").read_text())["packages"]
    node = stage.output_of(["node", "--version"], stage.inherited(), within=10).strip()
    names = ("oidc-provider", "pg", "@node-rs/argon2")
    packages = ", ".join(f"{name} {lock[f'node_modules/{name}']['version']}" for name in names)
    return f"{packages}, Node.js {node}"


@contextmanager
def prepared(place: Path, people: list[str]) -> Iterator[Beside]:
    """Make its database, with people and clients in it."""
    password = secrets.token_urlsafe(12)
    machine, web = (("machine", secrets.token_urlsafe(32)), ("web", secrets.token_urlsafe(32)))
    with stage.database(place, sqlite=False, of="bench_beside") as database:
        with psycopg.connect(database.url) as connection:
            connection.execute((FOLDER / "schema.sql").read_bytes())
            _people(connection, people, password)
            _clients(connection, machine, web)
        world = {
            "prefix": "",
            "machine": machine,
            "web": web,
            "redirect_uri": _CALLBACK,
            "usernames": people,
            "password": password,
            "interface": asdict(_INTERFACE),
        }
        yield Beside(database, _environment(database.url), place, world)


def _environment(url: str) -> dict[str, str]:
    key = ECKey.generate_key("P-256", {"alg": "ES256", "use": "sig"}, auto_kid=True)
    return stage.inherited() | {
        "NODE_ENV": "production",
        "DATABASE_URL": url,
        "JWKS": json.dumps({"keys": [key.as_dict(private=True)]}),
        "COOKIE_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
        "RESOURCE": _RESOURCE,
    }


def _people(connection: psycopg.Connection, names: list[str], password: str) -> None:
    rows = [(str(uuid.uuid4()), name, _ARGON2.hash(password), name, f"{name}@rp.example") for name in names]
    connection.cursor().executemany("INSERT INTO person VALUES (%s, %s, %s, %s, %s)", rows)


def _clients(connection: psycopg.Connection, machine: tuple[str, str], web: tuple[str, str]) -> None:
    grants = {"machine": ["client_credentials"], "web": ["authorization_code", "refresh_token"]}
    for name, secret in (machine, web):
        is_web = name == "web"
        client = {
            "client_id": name,
            "client_secret": secret,
            "grant_types": grants[name],
            "redirect_uris": [_CALLBACK] if is_web else [],
            "response_types": ["code"] if is_web else [],
        }
        connection.execute(
            "INSERT INTO oidc_payload (model, id, payload) VALUES ('Client', %s, %s)",
            [name, json.dumps(client)],
        )

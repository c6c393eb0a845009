"""Directus demands a verified address and gives each person the role of the same name."""

import os
import re
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

import httpx
import pytest

from identity.users.models import User
from tests.support import packages
from tests.support.cast import PASSWORD, RelyingParty
from tests.support.clients import DIRECTUS as CLIENT
from tests.support.clients import PROGRAMS
from tests.support.management import result_of
from tests.support.relying_parties import Person, new_origin
from tests.support.threads import wait_until
from tests.support.wire import answers

EDITOR = str(uuid.uuid4())
UNSIGNED = re.compile(r"unexpected JWT alg received, expected \w+, got: \w+")


@dataclass(frozen=True)
class Product:
    """Directus as it runs: where, as which application, its administrator, and its log."""

    origin: str
    client: RelyingParty
    administrator: httpx.Client
    log: Path

    def enter(self, person: Person) -> httpx.Response:
        return person.enter(person.open(f"{self.origin}/auth/login/gatehouse"))


@pytest.fixture
def product(acme, secured, tmp_path) -> Iterator[Product]:
    origin = new_origin()
    client = acme.application(redirect_uris=[f"{origin}{CLIENT.callback}"])
    with directus(tmp_path, client, secured, origin) as root:
        yield Product(origin, client, root, tmp_path / "log")


@contextmanager
def directus(folder, client, secured, origin) -> Iterator[httpx.Client]:
    """Run it in a folder of its own, and yield its administrator."""
    command: list[str | Path] = [
        str(shutil.which("node")),
        packages.directus() / "node_modules/directus/cli.js",
    ]
    values = os.environ | environment(folder, client, secured, origin)
    with (folder / "log").open("wb") as log:
        options = {"env": values, "cwd": folder, "stdout": log, "stderr": log}
        subprocess.run([*command, "bootstrap"], check=True, timeout=180, **options)
        process = subprocess.Popen([*command, "start"], **options)
        try:
            with closing(administrator(process, origin, folder / "log")) as root:
                yield root
        finally:
            process.terminate()
            process.wait(20)


def environment(folder, client, secured, origin) -> dict[str, str]:
    """Return its settings, with what is different in each run."""
    text = Template((PROGRAMS / CLIENT.program).read_text()).substitute(
        FOLDER=folder,
        PORT=origin.rpartition(":")[2],
        ORIGIN=origin,
        PASSWORD=PASSWORD,
        ISSUER=client.world.issuer,
        CLIENT_ID=client.client_id,
        CLIENT_SECRET=client.secret,
        EDITOR=EDITOR,
    )
    lines = (line.partition("=") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in lines} | {"NODE_EXTRA_CA_CERTS": str(secured.authority)}


def administrator(process, origin, log) -> httpx.Client:
    """Return its administrator, signed in, after creating the role that people get."""
    administrator = httpx.Client(base_url=origin, timeout=30)
    answered = wait_until(lambda: process.poll() is not None or answers(f"{origin}/server/ping"), 120)
    assert answered, f"Directus does not answer: {log.read_text()[-3000:]}"
    assert process.poll() is None, f"Directus ended: {log.read_text()[-3000:]}"
    who = {"email": "root@example.com", "password": PASSWORD}
    token = administrator.post("/auth/login", json=who).json()["data"]["access_token"]
    administrator.headers["Authorization"] = f"Bearer {token}"
    made = administrator.post("/roles", json={"id": EDITOR, "name": "Editor"})
    assert made.status_code == 200, made.text
    return administrator


@pytest.fixture
def person(acme, admin, secured):
    """Make somebody by the API, with the role that Directus knows."""
    role = admin.created("/roles", name="editor", type="User")
    browsers = []

    def made(username, **fields) -> Person:
        address = f"{username}@example.com"
        row = admin.created("/users", username=username, password=PASSWORD, email=address, **fields)
        result_of(admin.put(f"/users/{row['id']}/roles", role_ids=[role["id"]]))
        with acme.active():
            browsers.append(Person(acme, secured, User.objects.get(pk=row["id"])))
        return browsers[-1]

    yield made
    for somebody in browsers:
        somebody.browser.http.close()


def test_signs_in_whom_the_API_made_verified_with_name_and_role(product, person, sign_with, refusals):
    ada = person("ada", email_verified=True, given_name="Ada", family_name="Lovelace")
    bob = person("bob")
    assert product.enter(ada).status_code == 401
    refusals["directus"] = UNSIGNED.findall(product.log.read_text())[-1]
    ada.browser.http.cookies.clear()

    sign_with(product.client, CLIENT.algorithm)

    assert product.enter(ada).status_code == 200
    assert product.enter(bob).status_code == 401
    fields = "email,first_name,last_name,role.name,external_identifier"
    query = {"fields": fields, "filter[provider][_eq]": "gatehouse"}
    assert product.administrator.get("/users", params=query).json()["data"] == [
        {
            "email": "ada@example.com",
            "first_name": "Ada",
            "last_name": "Lovelace",
            "role": {"name": "Editor"},
            "external_identifier": str(ada.user.pk),
        }
    ]
    CLIENT.done.extend(["login", "userinfo"])

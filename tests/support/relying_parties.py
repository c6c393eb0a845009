"""Relying parties that use libraries of others: programs that the browser of a user visits.

All of them answer the same addresses: ``/login`` leads to the provider and back to ``/``, which
shows claims and tokens as JSON; ``/userinfo``, ``/refresh``, ``/logout`` do what they say.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from identity.users.models import User
from tests.support import packages, second
from tests.support.cast import PASSWORD, Browser, RelyingParty, World
from tests.support.clients import PROGRAMS
from tests.support.forms import form
from tests.support.tls import Secured


@dataclass
class Person:
    """Somebody with a browser that trusts the authority of the run, and follows where it is sent."""

    world: World
    secured: Secured
    user: User
    browser: Browser = field(init=False)

    def __post_init__(self) -> None:
        self.browser = Browser(self.world, self.secured.client())

    def open(self, address: str) -> httpx.Response:
        answer = self.browser.get(address)
        while answer.has_redirect_location:
            answer = self.browser.get(str(answer.url.join(answer.headers["Location"])))
        return answer

    def enter(self, page: httpx.Response) -> httpx.Response:
        """Sign in on the page, and go on to where that leads."""
        assert str(page.url).startswith(f"{self.world.address}/sign-in"), page.text
        answer = form(page).submit(self.browser, identifier=self.user.username, password=PASSWORD)
        assert answer.has_redirect_location, answer.text
        page = self._onward(answer)
        if not str(page.url).startswith(f"{self.world.address}/consent"):
            return page
        return self._onward(form(page).submit(self.browser, choice="allow"))

    def confirm(self, page: httpx.Response) -> httpx.Response:
        """Say yes to the page that asks before it signs out."""
        assert str(page.url).startswith(f"{self.world.address}/oidc/end-session"), page.text
        return self._onward(form(page).submit(self.browser))

    def _onward(self, answer: httpx.Response) -> httpx.Response:
        return self.open(str(answer.url.join(answer.headers["Location"])))

    @property
    def is_signed_in(self) -> bool:
        """Whether the provider knows who is in this browser."""
        return self.browser.get("/account").status_code == 200


@contextmanager
def running(
    name: str, client: RelyingParty, secured: Secured, origin: str, *, leave_out: str = ""
) -> Iterator[None]:
    """Run a program of ``tests/interop/clients`` at its origin, without the lines that hold ``leave_out``."""
    environment = {
        "ISSUER": client.world.issuer,
        "CLIENT_ID": client.client_id,
        "CLIENT_SECRET": client.secret
        if client.application.type in {"Traditional", "MachineToMachine"}
        else "",
        "ORIGIN": origin,
        # How Node, requests and everything that uses OpenSSL learn of an authority.
        "NODE_EXTRA_CA_CERTS": str(secured.authority),
        "REQUESTS_CA_BUNDLE": str(secured.authority),
        "SSL_CERT_FILE": str(secured.authority),
        # A native application opens a browser with it.
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "OPENED": str(secured.authority.with_name("opened")),
    }
    log_path = secured.authority.with_name(f"{name}.log")
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            _command(name, secured, leave_out), env=os.environ | environment, stdout=log, stderr=log
        )
    try:
        _wait_for(process, origin, log_path)
        yield
    finally:
        process.terminate()
        process.wait(20)


def _command(name: str, secured: Secured, leave_out: str) -> list[str | Path]:
    place = secured.authority.with_name("programs")
    if not place.exists():
        shutil.copytree(PROGRAMS, place)
    program = place / name
    if leave_out:
        lines = program.read_text().splitlines()
        program = place / f"shorter_{name}"
        program.write_text("\n".join(line for line in lines if leave_out not in line))
    if name.endswith(".mjs"):
        if not (place / "node_modules").exists():
            (place / "node_modules").symlink_to(packages.node_modules())
        return [str(shutil.which("node")), program]
    # Authlib is ours already: the demo application is built on it.
    return [sys.executable if name.startswith("authlib") else packages.python(), program]


def new_origin() -> str:
    """An origin that nobody has; not on ``localhost``, so that no cookie is shared with the provider."""
    return f"http://127.0.0.1:{second.free_port()}"


def _wait_for(process: subprocess.Popen[bytes], origin: str, log: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the client ended: {log.read_text()[-3000:]}"
        try:
            httpx.get(f"{origin}/nothing")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the client does not answer: {log.read_text()[-3000:]}")


def shown(answer: httpx.Response) -> dict[str, Any]:
    """Return what a relying party shows."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/json"), (answer.url, answer.text)
    found: dict[str, Any] = answer.json()
    return found

"""docs/examples/own_front_end/serve.py serves the front end and Gatehouse at one origin."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.support import second
from tests.support.cast import PASSWORD, World
from tests.support.threads import wait_until

FOLDER = Path(settings.BASE_DIR) / "docs/examples/own_front_end"


@pytest.fixture(scope="module")
def origin(address: str) -> Iterator[str]:
    """Gatehouse, with the address of the front end as BASE_URL, and the front end before it."""
    node, port = second.free_port(), second.free_port()
    base_url = f"http://localhost:{port}"
    where = {"GATEHOUSE": f"127.0.0.1:{node}", "FRONT_END_PORT": str(port)}
    with second.running(PORT=str(node), BASE_URL=base_url):
        process = subprocess.Popen([sys.executable, FOLDER / "serve.py"], env=os.environ | where)
        try:
            assert wait_until(lambda: answers(f"{base_url}/healthz"))
            yield base_url
        finally:
            process.terminate()
            process.wait(10)


def answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("path", ["/sign-in", "/sign-in?interaction=x", "/account", "/t/acme/sign-in"])
def test_the_pages_are_those_of_the_front_end(origin, path):
    answer = httpx.get(f"{origin}{path}")

    assert answer.text == (FOLDER / "index.html").read_text()
    assert answer.headers["Content-Type"] == "text/html"


@pytest.mark.parametrize("path", ["/own/app.js", "/t/acme/own/app.js"])
def test_their_script_is_there(origin, path):
    assert httpx.get(f"{origin}{path}").text == (FOLDER / "app.js").read_text()


def test_everything_else_is_gatehouse(origin, acme: World):
    tenant = f"{origin}/t/{acme.tenant.slug}"
    user = acme.user()

    with httpx.Client(headers={"Origin": origin}) as browser:
        credentials = {"identifier": user.username, "password": PASSWORD}
        signed_in = browser.post(f"{tenant}/api/interaction/sign-in", json=credentials)
        sessions = browser.get(f"{tenant}/api/my-account/sessions")
        page = browser.get(f"{tenant}/account/profile")

    assert (signed_in.status_code, sessions.status_code, page.status_code) == (200, 200, 200)
    assert httpx.get(f"{tenant}/.well-known/openid-configuration").json()["issuer"] == tenant
    assert httpx.get(f"{origin}/sign-in/second-factor").text != (FOLDER / "index.html").read_text()

"""Signing in through an OpenID provider of another make, which npm brings."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.social.models import SocialIdentity
from tests.support import packages, second
from tests.support.cast import Browser, World, new_world
from tests.support.forms import form
from tests.support.openid import CLIENT
from tests.support.social import share_callback

PROGRAM = Path(__file__).with_name("provider.mjs")


@pytest.fixture
def program(tmp_path) -> Path:
    """Return the provider beside the packages that it needs."""
    (tmp_path / "node_modules").symlink_to(packages.node_modules())
    return Path(shutil.copy(PROGRAM, tmp_path))


@pytest.fixture
def here(address: str, settings) -> Iterator[World]:
    settings.DEVELOPMENT = True
    with second.running(DEBUG="true") as server:
        yield new_world().at(server)


@pytest.fixture
def issuer(here: World, program: Path) -> Iterator[str]:
    port = second.free_port()
    client = [CLIENT["client_id"], CLIENT["client_secret"]]
    process = subprocess.Popen(
        [str(shutil.which("node")), program, str(port), f"{here.address}/social/callback", *client],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield listening(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(20)


def listening(address: str) -> str:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{address}/.well-known/openid-configuration")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return address
    raise AssertionError("the provider does not answer")


def followed(browser: Browser, answer: httpx.Response) -> httpx.Response:
    while answer.has_redirect_location:
        answer = browser.get(str(answer.url.join(answer.headers["Location"])))
    return answer


def test_a_certified_provider_vouches_for_people(here, issuer):
    with here.active():
        config = CLIENT | {"issuer": issuer}
        made = connectors.create(connector_id="oidc", type="Social", config=config, enabled=True)
    share_callback(here, made)

    for _ in range(2):
        browser = here.browser()
        page = followed(browser, browser.get("/social/oidc"))
        page = followed(browser, form(page).submit(browser, login="grace", password="anything"))
        page = followed(browser, form(page).submit(browser))
        assert str(page.url) == f"{here.address}/account"

    with here.active():
        user, identity = User.objects.get(), SocialIdentity.objects.get()
    assert (user.email, user.email_verified, user.name) == ("grace@example.com", True, "Person grace")
    assert (user.login_count, identity.provider, identity.subject) == (2, issuer, "grace")

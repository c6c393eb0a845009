"""Signing in through an OpenID provider of another make, which npm brings."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from django.test import Client

from config.single_sign_on import Provider
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.social.models import SocialIdentity
from tests.support import operators, packages, second
from tests.support.cast import PASSWORD, Browser, World, new_world, query_of
from tests.support.forms import form, forms
from tests.support.openid import CLIENT
from tests.support.social import share_callback
from tests.support.threads import wait_until
from tests.support.wire import answers

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


@contextmanager
def running(program: Path, redirect_uri: str) -> Iterator[str]:
    """Run the provider with one client, and yield its issuer."""
    port = second.free_port()
    client = [CLIENT["client_id"], CLIENT["client_secret"]]
    process = subprocess.Popen(
        [str(shutil.which("node")), program, str(port), redirect_uri, *client],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        assert wait_until(lambda: answers(f"{address}/.well-known/openid-configuration"))
        yield address
    finally:
        process.terminate()
        process.wait(20)


def followed(browser: Browser, answer: httpx.Response) -> httpx.Response:
    while answer.has_redirect_location:
        answer = browser.get(str(answer.url.join(answer.headers["Location"])))
    return answer


@pytest.fixture
def issuer(here: World, program: Path) -> Iterator[str]:
    with running(program, f"{here.address}/social/callback") as found:
        yield found


def test_a_certified_provider_vouches_for_people(here, issuer):
    with here.active():
        config = CLIENT | {"issuer": issuer}
        made = connectors.create(
            connector_id="oidc", type="Social", config=config, enabled=True, is_proven=True
        )
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


def approved(issuer: str, address: str, callback: str) -> dict[str, str]:
    """Sign in at the provider, and return the parameters with which it sends the browser back."""
    with httpx.Client() as client:
        page = client.get(address, follow_redirects=True)
        for fields in ({"login": "grace", "password": "anything"}, {}):
            sent = forms(page)[0]
            page = client.post(page.url.join(sent.action), data=sent.fields | fields)
            while page.has_redirect_location:
                following = str(page.url.join(page.headers["Location"]))
                if following.startswith(callback):
                    return query_of(following)
                page = client.get(following)
    raise AssertionError(f"{issuer} sends nobody back: {page.text}")


def test_a_certified_provider_vouches_for_administrators(address, program, settings):
    callback = f"{settings.BASE_URL}/admin/login/provider/callback/"
    settings.DEVELOPMENT = True
    who = operators.administrator()
    with running(program, callback) as issuer:
        settings.ADMIN_OIDC = Provider(
            issuer, CLIENT["client_id"], CLIENT["client_secret"], "Example SSO", "own"
        )
        own = Client()
        own.force_login(who)
        sent = own.post("/admin/single-sign-on/", {"password": PASSWORD})
        own.get(callback, approved(issuer, sent.headers["Location"], callback))
        other = Client()
        sent = other.post("/admin/login/provider/", {"next": "/admin/tenant/"})
        answer = other.get(callback, approved(issuer, sent.headers["Location"], callback))

    assert answer.headers["Location"] == "/admin/tenant/"
    assert other.session["_auth_user_id"] == str(who.pk)

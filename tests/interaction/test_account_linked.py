"""/account/linked: accounts elsewhere, linked and unlinked by the person they belong to."""

from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from tests.support import codes, passkeys, social
from tests.support.cast import Browser, World, signed_in
from tests.support.forms import form

PAGE = "/account/linked"

pytestmark = pytest.mark.usefixtures("development")


@pytest.fixture
def acme(acme: World, loopback_server: str) -> World:
    return acme.at(loopback_server)


def connect(world: World, config: dict[str, str]) -> Connector:
    with world.active():
        return connectors.create(
            connector_id="oidc", type="Social", enabled=True, config=config, is_proven=True
        )


def link(world: World, user: User, connector: Connector, subject: str = "ada-1") -> SocialIdentity:
    with world.active():
        issuer = connector.config()["issuer"]
    profile = Profile(provider=issuer, subject=subject, email="ada@example.com")
    with world.active():
        return identities.link(user, profile, connector, "Elsewhere <&>")


def linked(world: World) -> int:
    with world.active():
        return SocialIdentity.objects.count()


def send(browser: Browser, **pressed: str) -> httpx.Response:
    return browser.post(PAGE, data=form(browser.get(PAGE)).fields | pressed)


def test_an_account_is_linked_by_going_there_and_back(acme, provider):
    connect(acme, provider.config)
    browser, user = signed_in(acme)
    assert "No connected accounts" in browser.get("/account").text

    away = send(browser, link="oidc")
    home = social.back(browser, provider.approve(social.note_redirect_uri(away.headers["Location"])))

    assert away.status_code == home.status_code == 303
    assert home.headers["Location"] == f"/t/{acme.tenant.slug}/account"
    with acme.active():
        assert SocialIdentity.objects.get().user_id == user.pk
    assert "1 connected account" in browser.get("/account").text
    assert "OpenID Connect" in browser.get(PAGE).text


def test_not_long_after_the_sign_in(acme, provider):
    connect(acme, provider.config)
    browser, _ = signed_in(acme)
    with acme.active():
        Session.objects.update(auth_time=timezone.now() - timedelta(seconds=settings.CONFIRM_SECONDS + 1))

    answer = send(browser, link="oidc")

    assert answer.status_code == 403
    assert "Sign in again first. Then you have 5 minutes to make this change." in answer.text
    assert "sign in again. Then you have 5 minutes." in browser.get(PAGE).text


@pytest.mark.parametrize("connector_id", ["", "github", "a\0b", "x" * 5000])
def test_not_where_nothing_is_offered(acme, provider, connector_id):
    connect(acme, provider.config)
    browser, _ = signed_in(acme)

    assert send(browser, link=connector_id).status_code == 404


def test_lists_and_unlinks(acme, provider):
    connector = connect(acme, provider.config)
    browser, user = signed_in(acme)
    identity = link(acme, user, connector)

    page = browser.get(PAGE)
    answer = send(browser, unlink=str(identity.pk))

    assert "Elsewhere &lt;&amp;&gt;" in page.text
    assert "ada@example.com" in page.text
    assert "Disconnected." in browser.get(answer.headers["Location"]).text
    assert linked(acme) == 0


def test_keeps_the_last_way_in(acme, provider):
    connector = connect(acme, provider.config)
    browser, user = signed_in(acme)
    identity = link(acme, user, connector)
    with acme.active():
        User.objects.update(password="")

    answer = send(browser, unlink=str(identity.pk))

    assert answer.status_code == 400
    assert "Set up another way first" in answer.text
    assert linked(acme) == 1


def test_keeps_the_last_way_that_is_not_switched_off(acme, provider):
    connector = connect(acme, provider.config)
    browser, user = signed_in(acme)
    identity = link(acme, user, connector)
    codes.experience(acme, sign_in={"methods": []})

    answer = send(browser, unlink=str(identity.pk))

    assert answer.status_code == 400
    assert linked(acme) == 1


def test_a_passkey_is_a_way_only_where_users_can_sign_in_with_it(acme, provider):
    passkeys.switch_on(acme)
    connector = connect(acme, provider.config)
    browser, user = signed_in(acme)
    passkeys.enrol(acme, user, passkeys.device())
    codes.experience(acme, sign_in={"methods": []})

    allowed = send(browser, unlink=str(link(acme, user, connector).pk))
    passkeys.switch_on(acme, sign_in=False)
    refused = send(browser, unlink=str(link(acme, user, connector).pk))

    assert (allowed.status_code, refused.status_code) == (303, 400)
    assert linked(acme) == 1


def test_knows_nobody_elses(acme, rival, provider):
    connector = connect(acme, provider.config)
    foreign = connect(rival, provider.config)
    browser, user = signed_in(acme)
    link(acme, user, connector)
    ids = [
        "",
        "x",
        "00000000-0000-7000-8000-000000000000",
        str(link(acme, acme.user(), connector, "bob-1").pk),
        str(link(rival, rival.user(), foreign).pk),
    ]

    answers = [send(browser, unlink=pk) for pk in ids]

    assert {answer.status_code for answer in answers} == {404}
    assert (linked(acme), linked(rival)) == (2, 1)


def test_takes_no_form_of_another_site(acme, provider):
    connector = connect(acme, provider.config)
    browser, user = signed_in(acme)
    identity = link(acme, user, connector)

    answers = [browser.post(PAGE, data=sent) for sent in ({"link": "oidc"}, {"unlink": str(identity.pk)})]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert linked(acme) == 1


def test_leads_strangers_to_the_sign_in_page(acme):
    assert acme.get(PAGE).headers["Location"] == f"/t/{acme.tenant.slug}/sign-in"

"""AS04: what an account elsewhere leaves behind when it is unlinked, and which one is a way to sign in."""

from typing import Any

import httpx
import pytest

from audit.models import Entry
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.journeys import provider_accounts
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from interaction.social.proven_accounts import ProvenAccount
from tests.support import codes, openid, operators, social
from tests.support.admin_pages import operate
from tests.support.cast import Browser, World, query_of
from tests.support.forms import form
from tests.support.openid import OpenIDProvider

PAGE = "/account/linked"
SUBJECT = "ada-1"


@pytest.fixture
def connector(acme: World, provider: OpenIDProvider) -> Connector:
    return social.connect(acme, provider.config)


@pytest.fixture
def user(acme: World) -> User:
    return acme.user()


@pytest.fixture
def linked(acme: World, provider: OpenIDProvider, connector: Connector, user: User) -> SocialIdentity:
    """An account elsewhere that is linked to the user."""
    return link(acme, user, connector, provider.issuer)


def link(world: World, user: User, connector: Connector, provider: str, sub: str = SUBJECT) -> SocialIdentity:
    with world.active():
        return identities.link(user, Profile(provider=provider, subject=sub), connector, "Elsewhere")


def unlink(browser: Browser, identity: SocialIdentity) -> httpx.Response:
    return browser.post(PAGE, data=form(browser.get(PAGE)).fields | {"unlink": str(identity.pk)})


def take_password(world: World, user: User) -> None:
    with world.active():
        User.objects.filter(pk=user.pk).update(password="")


def is_linked(world: World, identity: SocialIdentity) -> bool:
    with world.active():
        return SocialIdentity.objects.filter(pk=identity.pk).exists()


@pytest.mark.parametrize("by", ["the user", "an administrator"])
def test_attack_AS04_a_browser_that_came_by_an_unlinked_account_stays_signed_in(
    acme, provider, user, linked, by
):
    client, thief, owner = acme.application(), acme.browser(), acme.browser()
    social.came(thief, provider, sub=SUBJECT)
    assert social.is_in(thief)
    code = query_of(thief.authorize(client).headers["Location"])["code"]
    tokens = client.redeem(code).json()
    pending = query_of(thief.authorize(client).headers["Location"])["code"]
    owner.sign_in(user)

    if by == "the user":
        done = unlink(owner, linked)
    else:
        done = operate(operators.at(acme), "users/user", user, "unlink", identity_id=str(linked.pk))

    assert done.status_code == 303
    assert not is_linked(acme, linked)
    assert not social.is_in(thief)
    assert client.refresh(tokens["refresh_token"]).status_code == 400
    assert client.userinfo(tokens["access_token"]).status_code == 401
    assert client.redeem(pending).status_code == 400
    assert social.is_in(owner) is (by == "the user")


def test_the_browser_that_unlinks_gets_a_new_secret_and_stays_known(acme, user, linked):
    owner = acme.browser()
    owner.sign_in(user)
    copied = acme.browser()
    copied.http.cookies.update(owner.http.cookies)
    with acme.active():
        session = Session.objects.get()

    unlink(owner, linked)

    assert social.is_in(owner)
    assert not social.is_in(copied)
    with acme.active():
        assert Session.objects.get().pk == session.pk
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, user_id=str(user.pk))
    assert {"SocialIdentity.Delete", "User.SignOut"} <= set(entries.values_list("key", flat=True))


def test_an_account_that_stays_linked_signs_nobody_out(acme, user, linked):
    """Unlinking is refused, and nothing has changed."""
    first, second = acme.browser(), acme.browser()
    first.sign_in(user)
    second.sign_in(user)
    take_password(acme, user)

    refused = unlink(first, linked)

    assert refused.status_code == 400
    assert social.is_in(first)
    assert social.is_in(second)


class TestLastWay:
    """The user has two linked accounts and no password; only one of the two works."""

    @pytest.fixture
    def other(self, acme: World, provider: OpenIDProvider, user: User, linked: SocialIdentity) -> Any:
        """Link a second account, as of a connector with these values, and return it with a browser."""

        def make(connector_id: str, issuer: str, config: dict[str, str], *, enabled: bool) -> Any:
            made = social.connect(acme, config, connector_id, enabled=enabled)
            browser = acme.browser()
            browser.sign_in(user)
            take_password(acme, user)
            return browser, link(acme, user, made, issuer, "ada-2")

        return make

    def try_each(
        self, acme: World, browser: Browser, works: SocialIdentity, dead: SocialIdentity
    ) -> list[tuple[int, bool]]:
        """Unlink the account that works, the dead one, and again the first. Return the statuses, and
        whether the account is still linked."""
        return [
            (unlink(browser, account).status_code, is_linked(acme, account))
            for account in (works, dead, works)
        ]

    def test_attack_AS04_an_account_of_a_connector_with_another_issuer(self, acme, provider, linked, other):
        """The issuer of the connector was changed since the account was linked."""
        config = {**openid.CLIENT, "endpoint": "https://github.example"}
        browser, dead = other("github", "https://github.com", config, enabled=True)

        assert self.try_each(acme, browser, linked, dead) == [(400, True), (303, False), (400, True)]

    def test_attack_AS04_an_account_of_a_newer_connector_with_another_issuer(
        self, acme, provider, user, linked
    ):
        """The newest connector of a kind is offered: the older one's accounts no longer sign in."""
        browser = acme.browser()
        browser.sign_in(user)
        take_password(acme, user)
        other = link(acme, user, social.connect(acme, provider.config), provider.issuer, "ada-2")
        social.connect(acme, {**openid.CLIENT, "issuer": "https://another.example"})
        github = social.connect(acme, openid.CLIENT, "github")
        works = link(acme, user, github, "https://github.com", "1")

        assert unlink(browser, works).status_code == 400
        assert unlink(browser, linked).status_code == 303
        assert unlink(browser, other).status_code == 303
        assert is_linked(acme, works)

    def test_attack_AS04_an_account_of_a_disabled_connector(self, acme, linked, other):
        browser, dead = other("github", "https://github.com", openid.CLIENT, enabled=False)

        assert self.try_each(acme, browser, linked, dead) == [(400, True), (303, False), (400, True)]

    def test_attack_AS04_an_account_whose_provider_is_not_built_in(self, acme, linked, other):
        browser, dead = other("orkut", "https://orkut.example", {"key": "x"}, enabled=True)

        assert self.try_each(acme, browser, linked, dead) == [(400, True), (303, False), (400, True)]

    def test_what_never_was_a_way_in_can_be_unlinked_by_a_user_without_any(self, acme, user, connector):
        browser = acme.browser()
        browser.sign_in(user)
        take_password(acme, user)
        dead = link(acme, user, connector, "https://former.example")

        assert unlink(browser, dead).status_code == 303
        assert not is_linked(acme, dead)

    def test_an_account_works_with_another_connector_of_its_provider(self, acme, provider, user, connector):
        """It is the provider that counts, not the connector with which the account was linked."""
        browser = acme.browser()
        browser.sign_in(user)
        take_password(acme, user)
        with acme.active():
            SocialIdentity.objects.filter(pk=link(acme, user, connector, provider.issuer, "ada-2").pk).update(
                connector_id="google"
            )
        dead = link(acme, user, connector, "https://former.example")

        assert unlink(browser, dead).status_code == 303


def test_attack_AS04_an_address_that_was_given_up_meanwhile_links_no_account(acme, provider, connector, user):
    """The sign-in read the user before another browser changed the address."""
    mail = codes.new_email()
    social.allow(acme, automatic_account_linking=True)
    profile = Profile(provider=provider.issuer, subject="x", email=mail, email_verified=True)
    with acme.active():
        User.objects.filter(pk=user.pk).update(
            email=mail, email_key=mail, email_verified=True, email_proven=True
        )
        read_before = User.objects.get(pk=user.pk)
        User.objects.filter(pk=user.pk).update(email="new@example.com", email_key="new@example.com")

        with pytest.raises(provider_accounts.AccountChanged):
            provider_accounts.record_use(read_before, ProvenAccount(profile, connector, "Elsewhere", None))

        assert not SocialIdentity.objects.exists()

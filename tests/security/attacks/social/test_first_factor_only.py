"""What a sign-in with an account elsewhere stores: nothing, until the second factor is proven."""

from datetime import timedelta

import pytest
from django.db.models import F

from audit.models import Entry
from identity.factors.models import KnownBrowser
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.social import agreements
from interaction.social.models import SocialAttempt, SocialIdentity
from tests.support import codes, factors, social
from tests.support.factors import TOTP
from tests.support.forms import form

PAGE = "/sign-in/second-factor"
LINKED = "SocialIdentity.Create"


@pytest.fixture
def email():
    return codes.new_email()


@pytest.fixture
def user(acme, provider, email):
    """A user with an authenticator, to whom an account elsewhere with the same address is linked."""
    codes.reachable(acme)
    factors.switch_on(acme)
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    return social.with_proven_email(acme, email)


@pytest.fixture
def app(acme, user):
    return factors.enrol(acme, user)


@pytest.fixture
def come(acme, provider, email, app):
    """Prove the first factor in a new browser, which is returned."""

    def come(**person):
        browser = acme.browser()
        given = {"sub": "somebody", "email": email, "email_verified": True, "name": "Ada"}
        answer = social.came(browser, provider, **given | person)
        assert answer.headers["Location"].endswith(PAGE)
        return browser

    return come


def prove_by_page(browser, app):
    return form(browser.get(PAGE)).submit(browser, code=app.code())


def prove_by_interface(browser, app):
    return browser.post(TOTP, json={"code": app.code()})


def links(world):
    with world.active():
        return [identity.user_id for identity in SocialIdentity.objects.all()]


def entries(world, key):
    return Entry.objects.filter(tenant_id=world.tenant.pk, key=key).count()


def purposes(email):
    return [message["interaction_type"] for message in codes.messages_to(email)]


def change(world, model, **columns):
    with world.active():
        assert model.objects.update(**columns) == 1


def test_attack_an_abandoned_sign_in_links_nothing_and_tells_nobody(acme, email, user, come):
    """A provider that calls any address verified must not leave its account with the user."""
    with acme.active():
        before = User.objects.filter(pk=user.pk).values().get()

    come()

    assert links(acme) == []
    assert entries(acme, LINKED) == 0
    with acme.active():
        assert User.objects.filter(pk=user.pk).values().get() == before
        assert not Session.objects.exists()
        assert not KnownBrowser.objects.exists()
    # A later notice is sent after the earlier ones: nothing came before this code.
    codes.sent(acme.browser(), email)
    assert "notice_account_linked" not in purposes(email)


@pytest.mark.parametrize("prove", [prove_by_page, prove_by_interface])
def test_the_second_factor_links_it_and_tells_the_user(acme, user, app, come, prove):
    browser = come()

    answer = prove(browser, app)

    assert factors.has_session(answer)
    assert links(acme) == [user.pk]
    assert entries(acme, LINKED) == 1
    codes.message_to(user.email, number=2)
    assert sorted(purposes(user.email)) == ["notice_account_linked", "notice_new_sign_in"]


def test_the_second_factor_links_it_once(acme, app, come):
    first, second = come(), come()
    prove_by_interface(first, app)

    answer = prove_by_interface(second, app)

    assert factors.has_session(answer)
    assert len(links(acme)) == 1
    assert entries(acme, LINKED) == 1


def test_a_wrong_code_links_nothing(acme, come):
    browser = come()

    answer = browser.post(TOTP, json={"code": "000000"})

    assert answer.status_code == 401
    assert links(acme) == []


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda acme: social.allow(acme, automatic_account_linking=False), id="linking is off"),
        pytest.param(lambda acme: change(acme, User, email_verified=False), id="not verified"),
        pytest.param(lambda acme: change(acme, User, email="b@b.org", email_key="b@b.org"), id="new address"),
        pytest.param(lambda acme: change(acme, Connector, enabled=False), id="connector is off"),
    ],
)
def test_attack_what_no_longer_allows_the_link_refuses_it(acme, app, come, changed):
    browser = come()
    with acme.active():
        Connector.objects.exclude(connector_id="oidc").delete()
    changed(acme)

    answer = prove_by_interface(browser, app)

    assert (answer.status_code, factors.has_session(answer)) == (404, False)
    assert links(acme) == []
    with acme.active():
        assert not Session.objects.exists()


def test_a_linked_account_keeps_its_profile_until_the_second_factor_is_proven(acme, app, come):
    prove_by_interface(come(), app)
    with acme.active():
        linked_at = SocialIdentity.objects.get().last_used_at

    browser = come(name="Eve")

    with acme.active():
        identity = SocialIdentity.objects.get()
    assert (identity.name, identity.last_used_at) == ("Ada", linked_at)
    prove_by_interface(browser, app)
    with acme.active():
        identity = SocialIdentity.objects.get()
    assert (identity.name, identity.last_used_at > linked_at) == ("Eve", True)


def test_attack_an_account_that_the_user_unlinks_meanwhile_does_not_come_back(acme, app, come):
    prove_by_interface(come(), app)
    browser = come()
    with acme.active():
        SocialIdentity.objects.all().delete()

    answer = prove_by_interface(browser, app)

    assert (answer.status_code, factors.has_session(answer)) == (404, False)
    assert links(acme) == []


def test_what_is_kept_is_no_attempt_of_a_new_user(acme, come):
    """The page of the terms finishes sign-ins that were kept for it, without asking the provider again."""
    come()

    with acme.active():
        kept = SocialAttempt.objects.get()
        assert kept.expires_at - kept.created_at <= timedelta(minutes=11, seconds=1)
        assert agreements.find(kept.pk, kept.browser, ()) is None


def test_a_new_user_is_linked_at_once_and_sets_the_factor_up(acme, provider, come):
    """Nobody else has the account, and without the link it could not be signed in to again."""
    factors.switch_on(acme, "Totp", policy="Mandatory")
    browser, person = acme.browser(), {"sub": "new", "email": codes.new_email(), "email_verified": True}

    answer = social.came(browser, provider, **person)
    later = social.came(acme.browser(), provider, **person)

    assert answer.headers["Location"].endswith("/sign-in/set-up")
    assert later.headers["Location"].endswith("/sign-in/set-up")
    assert len(links(acme)) == 1
    with acme.active():
        assert User.objects.count() == 2
        assert not User.objects.filter(last_sign_in_at__gt=F("created_at")).exists()

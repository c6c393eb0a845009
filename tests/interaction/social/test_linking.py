"""One person, two ways in: the same address, linked accounts, and the rows they leave."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users import assigned_passwords
from identity.users import services as users
from identity.users.models import User
from interaction.journeys.second_factor import reauthentication
from interaction.journeys.social import linking
from interaction.social import services as identities
from interaction.social.models import SocialAttempt, SocialIdentity
from tests.support.cast import PASSWORD, Browser, World, default_world
from tests.support.management import superuser
from tests.support.social import allow, away, back, came, connect, is_in, note_redirect_uri
from tests.support.social_pages import (
    ADA,
    EXPIRED,
    NOBODY,
    Refusal,
    count_arrivals,
    entry,
    find_refusal,
    only_user,
)

pytestmark = pytest.mark.usefixtures("development")


class TestSameAddress:
    def verified(self, world: World, verified: bool) -> User:
        user = world.user(email="Ada@Example.com")
        with world.active():
            User.objects.filter(pk=user.pk).update(email_verified=verified)
        return user

    def test_is_linked_where_the_tenant_wants_it_and_both_sides_verified_it(self, acme, provider):
        connect(acme, provider.config)
        allow(acme, automatic_account_linking=True)
        user = self.verified(acme, verified=True)

        answer = came(acme.browser(), provider, **ADA)

        assert answer.status_code == 303
        assert only_user(acme) == user
        with acme.active():
            assert SocialIdentity.objects.get().user_id == user.pk

    @pytest.mark.parametrize(("linking", "verified"), [(False, True), (True, False), (False, False)])
    def test_else_is_told_to_sign_in_and_link(self, acme, provider, linking, verified):
        """Otherwise a user who entered an address without proving it gets the account of its owner."""
        connect(acme, provider.config)
        allow(acme, automatic_account_linking=linking)
        self.verified(acme, verified=verified)
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        assert find_refusal(page, "You already have an account here") == Refusal(403)
        assert not is_in(browser)
        assert entry(acme).payload["error"] == "account_exists"
        with acme.active():
            assert not SocialIdentity.objects.exists()

    def test_is_not_linked_when_the_provider_did_not_verify_it(self, acme, provider):
        connect(acme, provider.config)
        allow(acme, automatic_account_linking=True)
        user = self.verified(acme, verified=True)

        came(acme.browser(), provider, email="ada@example.com", email_verified=False)

        with acme.active():
            newcomer = User.objects.exclude(pk=user.pk).get()
            assert SocialIdentity.objects.get().user_id == newcomer.pk
        assert newcomer.email == ""

    def test_a_suspended_user_is_not_linked(self, acme, provider):
        connect(acme, provider.config)
        allow(acme, automatic_account_linking=True)
        user = self.verified(acme, verified=True)
        with acme.active():
            users.suspend(user)

        assert find_refusal(came(acme.browser(), provider, **ADA), "suspended") == Refusal(403)

        with acme.active():
            assert not SocialIdentity.objects.exists()

    def test_newcomers_can_be_kept_out(self, acme, provider):
        connect(acme, provider.config)
        allow(acme, create_users=False)
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        assert find_refusal(page, "You don&#x27;t have an account here") == Refusal(403)
        assert count_arrivals(acme, browser) == NOBODY


class TestRows:
    def test_decision_T4_go_with_their_tenant(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider)
        away(acme.browser())

        answer = superuser(default_world()).delete(f"/tenants/{acme.tenant.pk}")

        assert answer.status_code == 200, answer.text
        with tenancy.using(tenancy.EVERYWHERE):
            assert not SocialIdentity.objects.filter(tenant_id=acme.tenant.pk).exists()
            assert not SocialAttempt.objects.filter(tenant_id=acme.tenant.pk).exists()

    def test_go_with_their_user_who_may_come_again_as_somebody_new(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider)
        before = only_user(acme)
        with acme.active():
            users.remove(before)

        came(acme.browser(), provider)

        assert only_user(acme).pk != before.pk


class TestAccount:
    """What the account page does."""

    @pytest.fixture
    def person(self, acme, provider, loopback_server, settings) -> tuple[Browser, User]:
        settings.BASE_URL = loopback_server
        connect(acme, provider.config)
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        away(browser)  # which marks the browser
        return browser, user

    def begun(self, world: World) -> str:
        with world.active():
            session = Session.objects.select_related("user").get()
            browser = SocialAttempt.objects.order_by("created_at")[0].browser
            away = linking.begin_link(connector_id="oidc", browser=browser, session=session)
        return note_redirect_uri(away)

    def test_somebody_who_is_signed_in_links_an_account(self, acme, provider, person):
        browser, user = person

        answer = back(browser, provider.approve(self.begun(acme)))

        assert answer.headers["Location"] == f"/t/{acme.tenant.slug}/account"
        with acme.active():
            (identity,) = identities.find_by_user(user)
            assert User.objects.count() == 1
        assert (identity.subject, identity.provider_name) == ("ada-1", "OpenID Connect")
        written = Entry.objects.get(tenant_id=acme.tenant.pk, key="SocialIdentity.Create")
        assert written.user_id == str(user.pk)
        came(acme.browser(), provider)
        assert only_user(acme).login_count == 2

    def test_not_an_account_of_somebody_else(self, acme, provider, person):
        browser, user = person
        came(acme.browser(), provider)
        with acme.active():
            Session.objects.exclude(user=user).delete()

        page = back(browser, provider.approve(self.begun(acme)))

        assert find_refusal(page, "already connected to another user") == Refusal(400)
        with acme.active():
            assert identities.find_by_user(user) == []
        written = Entry.objects.get(
            tenant_id=acme.tenant.pk, key="SocialIdentity.Create", user_id=str(user.pk)
        )
        assert (written.payload["result"], written.payload["error"]) == ("failed", "linked_elsewhere")

    def test_decision_Q18_not_after_an_answer_that_is_refused_and_the_log_says_why(
        self, acme, provider, person
    ):
        browser, user = person
        provider.lie = {"nonce": "another"}

        back(browser, provider.approve(self.begun(acme)))

        written = Entry.objects.get(tenant_id=acme.tenant.pk, key="SocialIdentity.Create")
        assert (written.payload["error"], written.payload["reason"]) == ("provider_failed", "nonce")
        assert written.user_id == str(user.pk)

    def test_not_after_signing_out(self, acme, provider, person):
        browser, user = person
        address = self.begun(acme)
        browser.sign_in(acme.user())

        assert find_refusal(back(browser, provider.approve(address)), EXPIRED) == Refusal(400)

        with acme.active():
            assert identities.find_by_user(user) == []

    def test_not_long_after_signing_in(self, acme, person):
        with acme.active():
            Session.objects.update(auth_time=timezone.now() - timedelta(seconds=settings.CONFIRM_SECONDS + 1))

        with pytest.raises(reauthentication.SignInAgain):
            self.begun(acme)

    def test_unlinks_what_is_theirs_while_another_way_in_is_left(self, acme, rival, provider):
        for world in (acme, rival):
            connect(world, provider.config)
        came(acme.browser(), provider)
        came(rival.browser(), provider)
        user, stranger = only_user(acme), only_user(rival)

        with rival.active():
            (theirs,) = identities.find_by_user(stranger)
        with acme.active():
            (mine,) = identities.find_by_user(user)
            with pytest.raises(Gone):
                identities.unlink(user, theirs.pk)
            with pytest.raises(identities.LastSignInMethod):
                identities.unlink(user, mine.pk)
            with pytest.raises(Gone):
                identities.unlink(acme.user(), mine.pk)
            assigned_passwords.set_password(user, PASSWORD, is_proven=True)
            with pytest.raises(identities.LastSignInMethod):  # a password needs an identifier
                identities.unlink(user, mine.pk)
            User.objects.filter(pk=user.pk).update(username="ada", username_key="ada")
            identities.unlink(user, mine.pk)
            with pytest.raises(ServiceError):
                identities.unlink(user, mine.pk)
            assert identities.find_by_user(user) == []
        written = Entry.objects.get(tenant_id=acme.tenant.pk, key="SocialIdentity.Delete")
        assert (written.user_id, written.payload["subject"]) == (str(user.pk), "ada-1")

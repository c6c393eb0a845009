"""A node whose clock is wrong makes nothing that outlives what the database ends (AV26)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone

from identity.sessions.models import Session
from interaction.social.models import SocialAttempt
from oidc.grants.models import RefreshFamily
from tests.support import management, second
from tests.support.authorize import (
    WITH_CODE,
    sent_back,
)
from tests.support.factors import is_signed_in, switch_on
from tests.support.lifetimes import is_invalid_grant, let_pass, set_tenant
from tests.support.own_factors import add_authenticator
from tests.support.social import away, connect

HOME = "https://rp.example/bye"
SIGNED_IN = ("updated_at", "auth_time", "created_at")


@contextmanager
def at_a_wrong_clock(folder, seconds) -> Iterator[str]:
    """The address of another node, whose clock is wrong."""
    clock = folder / "clock"
    clock.write_text(str(seconds))
    application = "tests.support.wrong_clock:application"
    with second.running(TEST_APPLICATION=application, TEST_CLOCK=str(clock)) as served:
        yield served


@pytest.fixture(scope="module")
def node_ahead(address, tmp_path_factory):
    with at_a_wrong_clock(tmp_path_factory.mktemp("ahead"), 600) as served:
        yield served


@pytest.fixture(scope="module")
def node_behind(address, tmp_path_factory):
    with at_a_wrong_clock(tmp_path_factory.mktemp("behind"), -600) as served:
        yield served


@pytest.fixture
def ahead(acme, node_ahead):
    return acme.at(node_ahead)


@pytest.fixture
def behind(acme, node_behind):
    return acme.at(node_behind)


def authorize(world, browser, client, **parameters):
    """Send an authorization request of a browser to a node."""
    return browser.get(f"{world.address}/oidc/authorize", params=client.request(**parameters))


class TestANodeThatIsAhead:
    def test_attack_AV26_makes_no_refresh_tokens_that_outlive_others(self, acme, ahead):
        set_tenant(management.superuser(acme), refresh_token_absolute_seconds=1000)
        client, user = ahead.application(), acme.user()
        token = client.tokens_for(user)["refresh_token"]
        token = client.refresh(token).json()["refresh_token"]

        let_pass(acme, RefreshFamily, 1001, "created_at")

        assert is_invalid_grant(client.refresh(token))

    def test_attack_AV26_makes_no_sessions_that_outlive_others(self, acme, ahead):
        set_tenant(management.superuser(acme), session_absolute_seconds=1000)
        browser, user = ahead.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200
        assert is_signed_in(browser)

        let_pass(acme, Session, 1001, *SIGNED_IN)

        assert not is_signed_in(browser)

    def test_attack_AV26_nor_by_their_end_or_their_last_use(self, acme, ahead):
        browser, user = ahead.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200
        assert browser.sign_in(user).status_code == 200
        other, other_user = acme.browser(), acme.user()
        assert other.sign_in(other_user).status_code == 200

        with acme.active():
            wrong, right = (Session.objects.get(user=one) for one in (user, other_user))

        for column in ("last_used_at", "expires_at", "updated_at", "auth_time"):
            assert getattr(wrong, column) <= getattr(right, column), column

    def test_attack_AV26_makes_no_sign_in_look_younger(self, acme, ahead):
        client, browser, user = acme.application(), ahead.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200

        let_pass(acme, Session, 310, *SIGNED_IN)
        answer = authorize(acme, browser, client, max_age="300")

        assert "/sign-in" in answer.headers["Location"]

    def test_attack_AV26_still_accepts_a_sign_in_of_this_moment(self, acme, ahead):
        client, browser, user = ahead.application(), ahead.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200

        answer = authorize(ahead, browser, client, max_age="300", prompt="none")

        assert sent_back(answer, client).keys() == WITH_CODE

    def test_decision_M31_reads_the_code_of_a_new_authenticator_by_the_database_s_clock(self, acme, ahead):
        switch_on(acme, "Totp")
        browser, user = ahead.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200

        _, added = add_authenticator(browser)

        assert added["type"] == "Totp"


class TestANodeThatIsBehind:
    def test_attack_AV26_still_accepts_a_sign_in_of_this_moment(self, acme, behind):
        client, browser, user = behind.application(), behind.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200

        answer = authorize(behind, browser, client, max_age="300", prompt="none")

        assert sent_back(answer, client).keys() == WITH_CODE

    def test_attack_AV26_makes_no_sign_in_look_younger(self, acme, behind):
        client, browser, user = behind.application(), acme.browser(), acme.user()
        assert browser.sign_in(user).status_code == 200

        let_pass(acme, Session, 310, *SIGNED_IN)
        answer = authorize(behind, browser, client, max_age="300")

        assert "/sign-in" in answer.headers["Location"]

    def test_attack_AV26_still_ends_the_session_that_an_id_token_names(self, acme, behind):
        client = behind.application(post_logout_redirect_uris=[HOME])
        browser, user = behind.browser(), acme.user()
        hint = client.tokens_for(user, browser)["id_token"]

        sent = {"id_token_hint": hint, "post_logout_redirect_uri": HOME}
        answer = behind.get("/oidc/end-session", params=sent)

        assert answer.headers["Location"].startswith(HOME), answer.text
        assert not is_signed_in(browser)

    def test_gives_a_sign_in_at_a_provider_its_ten_minutes(self, acme, behind):
        connect(acme, {"client_id": "a", "client_secret": "b"}, "github")

        away(behind.browser(), "github")

        with acme.active():
            left = SocialAttempt.objects.get().expires_at - timezone.now()
        assert timedelta(minutes=9) < left <= timedelta(minutes=10)

"""Signing in with an account elsewhere: who becomes which user, and when they are asked again."""

import time
from concurrent.futures import ThreadPoolExecutor

import jwt
import pytest

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.social.models import SocialIdentity
from tests.support.cast import PASSWORD, Browser, World, query_of
from tests.support.forms import form
from tests.support.providers import answer
from tests.support.social import SHARED_CALLBACK, away, back, came, connect, is_in, share_callback
from tests.support.social_pages import (
    ADA,
    NOBODY,
    NOT_ASKED_AGAIN,
    Refusal,
    count_arrivals,
    entry,
    find_refusal,
    only_user,
)

pytestmark = pytest.mark.usefixtures("development")


class TestSignIn:
    def test_makes_a_user_of_whom_the_provider_vouches_for(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()

        answer = came(browser, provider, **ADA, picture="https://pictures.example/ada.png")

        assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{acme.tenant.slug}/account")
        assert is_in(browser)
        user = only_user(acme)
        assert (user.username, user.email, user.email_verified) == ("", "ada@example.com", True)
        assert (user.name, user.avatar, user.password) == ("Ada", "https://pictures.example/ada.png", "")
        assert (user.login_count, user.last_sign_in_at is not None) == (1, True)
        with acme.active():
            assert Session.objects.get().amr == []

    def test_decision_A1_is_written_down(self, acme, provider):
        connect(acme, provider.config)

        came(acme.browser(), provider, **ADA)

        written, user = entry(acme), only_user(acme)
        assert written.user_id == str(user.pk)
        assert written.payload.pop("session_id")
        assert written.payload == {
            "connector_id": "oidc",
            "provider": provider.issuer,
            "subject": "ada-1",
            "username": "ada@example.com",
            "result": "success",
        }
        keys = set(Entry.objects.filter(tenant_id=acme.tenant.pk).values_list("key", flat=True))
        assert {"User.Create", "SocialIdentity.Create"} <= keys

    def test_is_the_same_user_again_whatever_else_changed(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider, **ADA)

        came(acme.browser(), provider, email="countess@example.com", email_verified=True, name="Countess")

        user = only_user(acme)
        assert (user.email, user.name, user.login_count) == ("ada@example.com", "Ada", 2)
        with acme.active():
            identity = SocialIdentity.objects.get()
        assert (identity.name, identity.email) == ("Countess", "countess@example.com")

    def test_is_somebody_else_for_another_subject_with_the_same_name(self, acme, provider):
        connect(acme, provider.config)

        for subject in ("1", "2", " 1", "1 ", "A", "a"):
            came(acme.browser(), provider, sub=subject, name="Ada")

        with acme.active():
            assert User.objects.count() == SocialIdentity.objects.count() == 6

    def test_goes_on_with_the_request_that_waits(self, acme, provider):
        connect(acme, provider.config)
        client, browser = acme.application(), acme.browser()
        page = browser.get(browser.authorize(client, state="mine").headers["Location"])
        interaction = form(page).fields["interaction"]
        assert f"/social/oidc?interaction={interaction}" in page.text

        returned = back(browser, provider.approve(away(browser, interaction=interaction), **ADA))
        answer = query_of(browser.get(returned.headers["Location"]).headers["Location"])

        assert answer["state"] == "mine"
        token = client.redeem(answer["code"]).json()["id_token"]
        claims = jwt.decode(token, options={"verify_signature": False})
        assert claims["sub"] == str(only_user(acme).pk)
        assert "amr" not in claims

    def test_asks_userinfo_for_what_the_id_token_leaves_out(self, acme, provider):
        connect(acme, provider.config)
        provider.web.answers["/userinfo"] = answer(200, {"sub": "ada-1", **ADA})

        came(acme.browser(), provider)

        assert only_user(acme).email == "ada@example.com"
        (asked,) = [asked for asked in provider.web.asked if asked.path == "/userinfo"]
        assert asked.headers["authorization"] == "Bearer theirs"

    def test_userinfo_verifies_no_address_of_the_id_token(self, acme, provider):
        connect(acme, provider.config)
        said = {"sub": "ada-1", "email": "other@example.com", "email_verified": True}
        provider.web.answers["/userinfo"] = answer(200, said)

        came(acme.browser(), provider, email="ada@example.com")

        assert only_user(acme).email == ""

    @pytest.mark.parametrize(
        "said",
        [
            {"email": "ada@example.com"},
            {"email": "ada@example.com", "email_verified": False},
            {"email": "ada@example.com", "email_verified": "true"},
            {"email": "ada@example.com", "email_verified": 1},
            {"email": "not an address", "email_verified": True},
            {"email": ["ada@example.com"], "email_verified": True},
            {"email_verified": True},
        ],
    )
    def test_an_address_that_is_not_verified_is_not_the_users(self, acme, provider, said):
        connect(acme, provider.config)

        came(acme.browser(), provider, **said)

        user = only_user(acme)
        assert (user.email, user.email_verified) == ("", False)

    @pytest.mark.parametrize(
        ("said", "kept"),
        [
            ({"name": "A\u0000d\u202ea\n", "picture": "javascript:alert(1)"}, ("Ada", None)),
            ({"name": ["Ada"], "picture": {"url": "https://x.example/"}}, ("", None)),
            ({"name": "x" * 5000, "picture": "https://x.example/" + "x" * 3000}, ("x" * 256, None)),
            ({"name": "\ud800Ada", "picture": "http://x.example/a.png"}, ("Ada", None)),
        ],
    )
    def test_keeps_of_a_profile_what_can_be_kept(self, acme, provider, said, kept):
        connect(acme, provider.config)

        assert came(acme.browser(), provider, **said).status_code == 303

        user = only_user(acme)
        assert (user.name, user.avatar) == kept

    def test_a_suspended_user_stays_out(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider)
        with acme.active():
            users.suspend(User.objects.get())
        browser = acme.browser()

        page = came(browser, provider)

        assert find_refusal(page, "Your account is suspended") == Refusal(403)
        assert not is_in(browser)
        assert entry(acme).payload["error"] == "suspended"

    def test_outlives_the_connector_and_works_with_the_next_one_to_the_same_provider(self, acme, provider):
        first = connect(acme, provider.config)
        came(acme.browser(), provider)
        with acme.active():
            connectors.remove(first, expected=None, is_proven=True)
        assert acme.browser().get("/social/oidc").status_code == 404

        connect(acme, provider.config)
        came(acme.browser(), provider)

        assert only_user(acme).login_count == 2

    def test_decision_T2_a_tenant_knows_nothing_of_anothers_users(self, acme, rival, provider):
        for world in (acme, rival):
            connect(world, provider.config)
            came(world.browser(), provider, **ADA)

        assert only_user(acme).pk != only_user(rival).pk

    def test_ends_the_session_of_who_was_there_before(self, acme, provider):
        connect(acme, provider.config)
        before, browser = acme.user(), acme.browser()
        browser.sign_in(before)

        came(browser, provider, name="Ada")

        assert "Ada" in browser.get("/account").text
        with acme.active():
            assert Session.objects.get(user=before).ended_at is not None

    def test_of_two_tabs_at_once_one_makes_the_user(self, acme, provider):
        connect(acme, provider.config)
        browsers = [acme.browser() for _ in range(4)]
        queries = [provider.approve(away(browser), **ADA) for browser in browsers]

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(back, browsers, queries))

        assert [answer.status_code for answer in answers] == [303] * 4
        assert only_user(acme).login_count == 4

    def test_belongs_to_the_connector_that_it_was_used_with_last(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider, **ADA)
        with acme.active():  # as if the account had been linked with another connector of this provider
            SocialIdentity.objects.update(connector_id="google", provider_name="Google")

        came(acme.browser(), provider, **ADA)

        with acme.active():
            identity = SocialIdentity.objects.get()
        assert (identity.connector_id, identity.provider_name) == ("oidc", "OpenID Connect")

    def test_works_with_gatehouse_as_the_provider(self, acme, rival):
        """The real thing: another tenant's discovery, keys, pages, tokens and userinfo."""
        there = rival.user("ada", name="Ada Lovelace", email="ada@example.com")
        client = rival.application(redirect_uris=[f"{acme.address}{SHARED_CALLBACK}"])
        config = {"issuer": rival.issuer, "client_id": client.client_id, "client_secret": client.secret}
        share_callback(acme, connect(acme, config))
        browser = acme.browser()

        onward = browser.get(away(browser)).headers["Location"]
        page = browser.get(onward)
        signed_in = form(page).submit(browser, identifier="ada", password=PASSWORD)
        returned = browser.get(browser.get(signed_in.headers["Location"]).headers["Location"])

        assert (returned.status_code, returned.headers["Location"]) == (
            303,
            f"/t/{acme.tenant.slug}/account",
        )
        user = only_user(acme)
        assert (user.name, user.email) == ("Ada Lovelace", "")  # nobody verified it there
        with acme.active():
            identity = SocialIdentity.objects.get()
        assert (identity.provider, identity.subject) == (rival.issuer, str(there.pk))


class TestAskedAgain:
    """What an application wants to know of a person's last sign-in, the provider is asked too."""

    def sent(self, world: World, browser: Browser, **asked: str) -> str:
        answer = browser.authorize(world.application(), **asked)
        return away(browser, interaction=query_of(answer.headers["Location"])["interaction"])

    @pytest.mark.parametrize(
        ("asked", "passed_on"),
        [
            ({}, {}),
            ({"prompt": "consent"}, {}),
            ({"prompt": "login"}, {"prompt": "login", "max_age": "0"}),
            ({"prompt": "login", "max_age": "60"}, {"prompt": "login", "max_age": "0"}),
            ({"max_age": "0"}, {"prompt": "login", "max_age": "0"}),
            ({"max_age": "60"}, {"max_age": "60"}),
        ],
    )
    def test_decision_O9_is_passed_on(self, acme, provider, asked, passed_on):
        connect(acme, provider.config)

        sent = query_of(self.sent(acme, acme.browser(), **asked))

        assert {name: sent[name] for name in ("prompt", "max_age") if name in sent} == passed_on

    @pytest.mark.parametrize(
        ("asked", "ago", "believed"),
        [
            ({"prompt": "login"}, 0, True),
            ({"prompt": "login"}, 600, False),
            ({"max_age": "0"}, 600, False),
            ({"max_age": "900"}, 600, True),
            ({"max_age": "300"}, 600, False),
            ({}, 600, True),
            ({"prompt": "login"}, None, False),  # decision N5: who does not say cannot be believed
        ],
    )
    def test_decision_O9_an_old_sign_in_there_is_none_here(self, acme, provider, asked, ago, believed):
        connect(acme, provider.config)
        browser = acme.browser()
        when = {} if ago is None else {"auth_time": int(time.time()) - ago}

        page = back(browser, provider.approve(self.sent(acme, browser, **asked), **ADA, **when))

        if believed:
            assert page.status_code == 303
            assert is_in(browser)
        else:
            assert find_refusal(page, NOT_ASKED_AGAIN) == Refusal(502)
            assert count_arrivals(acme, browser) == NOBODY

    @pytest.mark.parametrize("said", ["now", [], True, -1, {}])
    def test_a_time_that_is_none_is_not_believed(self, acme, provider, said):
        connect(acme, provider.config)
        browser = acme.browser()

        page = back(
            browser, provider.approve(self.sent(acme, browser, prompt="login"), **ADA, auth_time=said)
        )

        assert page.status_code == 502
        assert count_arrivals(acme, browser) == NOBODY

"""Signing in with an account elsewhere: over HTTP, against providers that behave and others that do not."""

import base64
import json
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import BoundedSemaphore
from typing import Any

import httpx
import jwt
import pytest
from django.test import Client
from django.utils import timezone
from joserfc.jwk import ECKey, OctKey

from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.records import Gone
from identity.limits import rules
from identity.sessions.models import Session
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.journeys.social import linking
from interaction.journeys.social import provider as provider_calls
from interaction.journeys.social.errors import SignInAgain
from interaction.social import services as identities
from interaction.social.models import SocialAttempt, SocialIdentity
from oidc.grants.models import AuthorizationRequest
from tests.support import openid, second
from tests.support.cast import PASSWORD, Browser, World, default_world, query_of
from tests.support.forms import form
from tests.support.management import superuser
from tests.support.openid import OpenIDProvider
from tests.support.providers import answer
from tests.support.social import (
    SHARED_CALLBACK,
    allow,
    away,
    back,
    callback_of,
    came,
    connect,
    is_in,
    note_redirect_uri,
    share_callback,
)

pytestmark = pytest.mark.usefixtures("development")

EXPIRED = "This sign-in has expired"
NOT_BELIEVED = "The other service did not tell us who you are."
NOT_ASKED_AGAIN = "The other service did not say that you signed in just now."
ADA = {"email": "ada@example.com", "email_verified": True, "name": "Ada"}


@pytest.fixture(scope="module")
def server(address) -> Iterator[str]:
    """A server that may talk to loopback."""
    with second.running(DEBUG="true") as served:
        yield served


@pytest.fixture
def acme(acme: World, server: str) -> World:
    return acme.at(server)


@pytest.fixture
def rival(rival: World, server: str) -> World:
    return rival.at(server)


@pytest.fixture
def provider() -> Iterator[OpenIDProvider]:
    with openid.provider() as made:
        yield made


def entry(world: World) -> Entry:
    """The newest entry of the log about social sign-ins."""
    return Entry.objects.filter(tenant_id=world.tenant.pk, key="SignIn.Social").order_by("-pk")[0]


def only_user(world: World) -> User:
    with world.active():
        return User.objects.get()


def refused(page: httpx.Response, status: int, text: str) -> httpx.Response:
    assert page.status_code == status, page.text
    assert page.headers["Content-Type"].startswith("text/html")
    assert page.headers["Cache-Control"] == "no-store"
    assert text in page.text
    return page


def nobody_came(world: World, browser: Browser) -> None:
    with world.active():
        assert (User.objects.count(), Session.objects.count(), SocialIdentity.objects.count()) == (0, 0, 0)
    assert not is_in(browser)


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

        refused(page, 403, "Your account is suspended")
        assert not is_in(browser)
        assert entry(acme).payload["error"] == "suspended"

    def test_outlives_the_connector_and_works_with_the_next_one_to_the_same_provider(self, acme, provider):
        first = connect(acme, provider.config)
        came(acme.browser(), provider)
        with acme.active():
            connectors.remove(first, expected=None)
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
            refused(page, 502, NOT_ASKED_AGAIN)
            nobody_came(acme, browser)

    @pytest.mark.parametrize("said", ["now", [], True, -1, {}])
    def test_a_time_that_is_none_is_not_believed(self, acme, provider, said):
        connect(acme, provider.config)
        browser = acme.browser()

        page = back(
            browser, provider.approve(self.sent(acme, browser, prompt="login"), **ADA, auth_time=said)
        )

        assert page.status_code == 502
        nobody_came(acme, browser)


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
        """Who entered an address without proving it must not get whoever comes with it."""
        connect(acme, provider.config)
        allow(acme, automatic_account_linking=linking)
        self.verified(acme, verified=verified)
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        refused(page, 403, "You already have an account here")
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

        refused(came(acme.browser(), provider, **ADA), 403, "suspended")

        with acme.active():
            assert not SocialIdentity.objects.exists()

    def test_newcomers_can_be_kept_out(self, acme, provider):
        connect(acme, provider.config)
        allow(acme, create_users=False)
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        refused(page, 403, "There is no account for you here")
        nobody_came(acme, browser)


def unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps({"alg": "none", "kid": "one"}), json.dumps(claims)]
    encoded = [base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, ""])


OTHER_KEY = ECKey.generate_key("P-256", {"kid": "one"})
UNKNOWN_KEY = ECKey.generate_key("P-256", {"kid": "two"})
SHARED = OctKey.import_key("our-secret-there-our-secret-there")
FORGED: dict[str, Any] = {
    "none": lambda _, claims: unsigned(claims),
    "another key of that name": lambda provider, claims: provider.signed(claims, OTHER_KEY),
    "a key that is not published": lambda provider, claims: provider.signed(claims, UNKNOWN_KEY, kid="two"),
    "a shared secret": lambda provider, claims: provider.signed(claims, SHARED, alg="HS256"),
    "the key that it brings": lambda provider, claims: provider.signed(
        claims, OTHER_KEY, jwk=OTHER_KEY.as_dict(private=False)
    ),
    "altered": lambda provider, claims: provider.signed(claims)[:-4] + "AAAA",
    "four parts": lambda provider, claims: provider.signed(claims) + ".x",
    "long": "x" * 70_000,
    "short": "a.b.c",
    "empty": "",
    "letters": "\u00e4.\u00e4.\u00e4",
}


class TestDistrust:
    """Whatever a provider, or who stands in for it, sends: nobody is signed in and nothing breaks."""

    def refuses(self, world: World, browser: Browser, page: httpx.Response) -> None:
        refused(page, 502, NOT_BELIEVED)
        nobody_came(world, browser)
        payload = entry(world).payload
        assert (payload["result"], payload["error"]) == ("failed", "provider_failed")

    @pytest.mark.parametrize(
        "lie",
        [
            {"nonce": "another"},
            {"nonce": None},
            {"nonce": ["x"]},
            {"iss": "https://accounts.evil.example"},
            {"iss": None},
            {"iss": 1},
            {"aud": "another client"},
            {"aud": ["another", "client"]},
            {"aud": None},
            {"aud": ["our-id", "another"]},  # and no azp
            {"azp": "another client"},
            {"exp": 1},
            {"exp": None},
            {"exp": "tomorrow"},
            {"exp": 1e400},
            {"iat": None},
            {"iat": 99999999999},
            {"nbf": 99999999999},
            {"sub": None},
            {"sub": ""},
            {"sub": ["ada-1"]},
            {"sub": "a\u0000b"},
            {"sub": "x" * 256},
            {"at_hash": "wrong"},
            {"at_hash": ["wrong"]},
        ],
        ids=str,
    )
    def test_a_claim_that_is_wrong(self, acme, provider, lie):
        connect(acme, provider.config)
        provider.lie = lie
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        self.refuses(acme, browser, page)

    @pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
    def test_a_signature_that_is_wrong(self, acme, provider, forged):
        connect(acme, provider.config)
        provider.sign = lambda claims: forged(provider, claims) if callable(forged) else forged
        browser = acme.browser()

        page = came(browser, provider, **ADA)

        self.refuses(acme, browser, page)

    @pytest.mark.parametrize(
        "said",
        [
            answer(500, {"access_token": "x"}),
            answer(302, {}, Location="/elsewhere"),
            answer(200, []),
            answer(200, None),
            answer(200, {}),
            answer(200, {"error": "invalid_grant"}),
            answer(200, {"access_token": 1, "id_token": "x"}),
            answer(200, {"access_token": "a\nb", "id_token": "x"}),
            answer(200, {"access_token": "x"}),
            answer(200, {"access_token": "x", "id_token": None}),
            answer(200, {"access_token": "x", "id_token": {"sub": "ada"}}),
            (200, {}, b"<html>"),
            (200, {}, b"\xff\xfe"),
            (200, {}, b"[" * 100_000),
            (200, {}, b"x" * 2_000_000),
        ],
    )
    def test_garbage_from_the_token_endpoint(self, acme, provider, said):
        connect(acme, provider.config)
        provider.web.answers["/token"] = said
        browser = acme.browser()

        page = came(browser, provider)

        self.refuses(acme, browser, page)

    @pytest.mark.parametrize(
        "said",
        [
            answer(404, {}),
            answer(200, {}),
            answer(200, {"keys": "x"}),
            answer(200, {"keys": []}),
            answer(200, {"keys": [1, None, {}, {"kty": "EC"}, {"kty": "oct", "k": "eA", "kid": "one"}]}),
        ],
    )
    def test_garbage_instead_of_keys(self, acme, provider, said):
        connect(acme, provider.config)
        provider.web.answers["/jwks"] = said
        browser = acme.browser()

        self.refuses(acme, browser, came(browser, provider, **ADA))

    def test_userinfo_of_somebody_else(self, acme, provider):
        connect(acme, provider.config)
        provider.web.answers["/userinfo"] = answer(200, {"sub": "eve", **ADA})
        browser = acme.browser()

        self.refuses(acme, browser, came(browser, provider))

    def test_userinfo_that_fails_costs_the_address_only(self, acme, provider):
        connect(acme, provider.config)
        provider.web.answers["/userinfo"] = answer(500, {"sub": "ada-1", **ADA})

        came(acme.browser(), provider)

        assert only_user(acme).email == ""

    def test_a_new_key_is_fetched_when_it_is_met(self, acme, provider):
        connect(acme, provider.config)
        came(acme.browser(), provider)
        provider.key = UNKNOWN_KEY
        provider.publish()
        provider.sign = lambda claims: provider.signed(claims, kid="two")

        answer = came(acme.browser(), provider)

        assert answer.status_code == 303

    def test_an_answer_of_another_issuer(self, acme, provider):
        """RFC 9207: a provider must not get us to hand it a code that another gave."""
        connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser)) | {"iss": "https://honest.example"}

        page = back(browser, query)

        self.refuses(acme, browser, page)
        assert query["code"] in provider.codes

    def test_an_answer_without_the_issuer_that_was_promised(self, acme, provider):
        provider.publish(authorization_response_iss_parameter_supported=True)
        connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser))
        del query["iss"]

        self.refuses(acme, browser, back(browser, query))

    def test_a_code_of_somebody_elses_trip(self, acme, provider):
        """PKCE and nonce: an attacker's code in a victim's answer is worth nothing, and the reverse."""
        connect(acme, provider.config)
        eve, ada = acme.browser(), acme.browser()
        stolen = provider.approve(away(eve), sub="eve")
        query = provider.approve(away(ada), sub="ada") | {"code": stolen["code"]}

        self.refuses(acme, ada, back(ada, query))

    def test_a_provider_that_is_not_there(self, acme):
        connect(acme, openid.CLIENT | {"issuer": "http://127.0.0.1:9"})
        client, browser = acme.application(), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]

        page = browser.get("/social/oidc", params={"interaction": interaction})

        self.refuses(acme, browser, page)
        assert f"/sign-in?interaction={interaction}" in page.text
        assert entry(acme).application_id == str(client.application.pk)
        with acme.active():
            assert not SocialAttempt.objects.exists()

    def test_a_provider_in_our_own_network_is_not_spoken_to(self, rival, provider, address):
        """In production: the address of the connector is checked when it is called, too."""
        world = World(rival.tenant, f"{address}/t/{rival.tenant.slug}")
        connect(rival, openid.CLIENT | {"issuer": "https://127.0.0.1"})

        page = world.browser().get("/social/oidc")

        refused(page, 502, NOT_BELIEVED)
        assert provider.web.asked == []


class TestState:
    @pytest.fixture
    def trip(self, acme, provider) -> tuple[Browser, dict[str, str]]:
        connect(acme, provider.config)
        browser = acme.browser()
        return browser, provider.approve(away(browser))

    def test_is_good_once(self, acme, provider, trip):
        browser, query = trip
        assert back(browser, query).status_code == 303
        provider.codes[query["code"]] = {"never": "asked"}

        refused(back(browser, query), 400, EXPIRED)

        assert provider.codes

    def test_is_good_once_also_when_it_failed(self, provider, trip):
        browser, query = trip
        back(browser, query | {"code": "wrong"})

        refused(back(browser, query), 400, EXPIRED)

    def test_is_good_once_of_many_at_the_same_time(self, acme, trip):
        browser, query = trip
        cookies = dict(browser.http.cookies)

        def go(_: int) -> int:
            return httpx.get(callback_of(query), params=query, cookies=cookies).status_code

        with ThreadPoolExecutor(6) as pool:
            codes = sorted(pool.map(go, range(6)))

        assert codes == [303, 400, 400, 400, 400, 400]

    def test_is_the_browsers_own(self, acme, provider, trip):
        """Else whoever sends a link could sign the reader in as themselves."""
        _, query = trip
        other = acme.browser()
        away(other)

        refused(back(other, query), 400, EXPIRED)
        refused(back(acme.browser(), query), 400, EXPIRED)

        nobody_came(acme, other)
        assert query["code"] in provider.codes

    def test_another_browsers_try_does_not_use_it_up(self, acme, trip):
        browser, query = trip
        back(acme.browser(), query)

        assert back(browser, query).status_code == 303

    def test_ends_after_ten_minutes(self, acme, trip):
        browser, query = trip
        with acme.active():
            left = SocialAttempt.objects.get().expires_at - timezone.now()
            assert timedelta(minutes=9) < left <= timedelta(minutes=10)
            SocialAttempt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        refused(back(browser, query), 400, EXPIRED)

    @pytest.mark.parametrize("state", ["", "x", "\u0000", "\U0001f600", "x" * 7000])
    def test_a_made_up_one_is_none(self, acme, trip, state):
        browser, query = trip

        refused(back(browser, query | {"state": state}), 400, EXPIRED)

    def test_decision_T2_is_good_in_its_tenant_alone(self, acme, rival, provider, trip):
        connect(rival, provider.config)
        browser, query = trip
        browser.get(f"{rival.address}/social/oidc")

        for path in (SHARED_CALLBACK, callback_of(query).removeprefix(acme.address)):
            page = browser.get(f"{rival.address}{path}", params=query)

        refused(page, 400, EXPIRED)

    def test_is_stored_as_a_hash_and_the_rest_sealed(self, acme, provider, trip):
        _, query = trip
        with acme.active():
            (row,) = SocialAttempt.objects.values()

        assert query["state"] not in str(row)
        assert provider.codes[query["code"]]["nonce"] not in str(row)

    def test_no_browser_gathers_more_than_twenty(self, acme, trip):
        browser, query = trip
        for _ in range(20):
            away(browser)

        refused(back(browser, query), 400, EXPIRED)
        with acme.active():
            assert SocialAttempt.objects.count() == 20

    def test_those_that_are_over_are_forgotten(self, acme, trip):
        with acme.active():
            SocialAttempt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        away(acme.browser())

        with acme.active():
            assert SocialAttempt.objects.count() == 1


class TestReturn:
    @pytest.mark.parametrize(
        "given", [{"error": "access_denied"}, {"error": "access_denied", "code": "x"}, {}, {"code": ""}]
    )
    def test_somebody_who_did_not_go_on_can_try_again(self, acme, provider, given):
        connect(acme, provider.config)
        client, browser = acme.application(), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]
        state = query_of(away(browser, interaction=interaction))["state"]

        page = back(browser, {"state": state} | given)

        refused(page, 400, "That was not finished")
        assert f"/sign-in?interaction={interaction}" in page.text
        assert entry(acme).payload["error"] == "declined"
        returned = back(browser, provider.approve(away(browser, interaction=interaction)))
        assert returned.headers["Location"].endswith(interaction)

    def test_what_the_provider_says_is_not_repeated(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()
        state = query_of(away(browser))["state"]

        said = {"error": "<b>leaked</b>", "error_description": "leaked", "error_uri": "https://evil.example"}
        page = back(browser, {"state": state} | said)

        assert "leaked" not in page.text
        assert "evil.example" not in page.text

    @pytest.mark.parametrize("change", ["disable", "delete"])
    def test_a_connector_that_is_gone_meanwhile_lets_nobody_in(self, acme, provider, change):
        connector = connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser))
        with acme.active():
            if change == "delete":
                connectors.remove(connector, expected=None)
            else:
                connectors.change(connector, {"enabled": False}, expected=None)

        page = back(browser, query)

        refused(page, 404, "This way to sign in is not available")
        nobody_came(acme, browser)
        assert query["code"] in provider.codes

    def test_a_request_that_is_over_meanwhile_signs_nobody_in(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()
        interaction = query_of(browser.authorize(acme.application()).headers["Location"])["interaction"]
        query = provider.approve(away(browser, interaction=interaction))
        with acme.active():
            AuthorizationRequest.objects.all().delete()

        refused(back(browser, query), 400, EXPIRED)

        nobody_came(acme, browser)

    @pytest.mark.parametrize("method", ["POST", "HEAD", "PUT", "DELETE"])
    def test_only_get_comes_back(self, acme, provider, method):
        connect(acme, provider.config)
        browser = acme.browser()
        query = provider.approve(away(browser))

        answer = browser.http.request(method, callback_of(query), params=query)

        assert answer.status_code in {403, 405}
        assert back(browser, query).status_code == 303


class TestStart:
    @pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
    def test_decision_X1_another_site_cannot_begin_it(self, acme, provider, site):
        connect(acme, provider.config)

        answer = acme.get("/social/oidc", headers={"Sec-Fetch-Site": site})

        assert answer.status_code == 403
        with acme.active():
            assert not SocialAttempt.objects.exists()

    @pytest.mark.parametrize("connector_id", ["github", "OIDC", "oidc/x", "%00", "..%2f", "x" * 3000])
    def test_what_is_not_there_is_not_offered(self, acme, provider, connector_id):
        connect(acme, provider.config)

        refused(acme.get(f"/social/{connector_id}"), 404, "This way to sign in is not available")

    def test_a_connector_that_is_switched_off_is_not_offered(self, acme, provider):
        connect(acme, provider.config, enabled=False)

        refused(acme.get("/social/oidc"), 404, "not available")

    def test_a_message_connector_is_not_offered(self, acme):
        connect(acme, {}, "outbox-email", kind="Email")

        refused(acme.get("/social/outbox-email"), 404, "not available")

    def test_decision_T2_another_tenants_connector_is_not_offered(self, acme, rival, provider):
        connect(rival, provider.config)

        refused(acme.get("/social/oidc"), 404, "not available")

    def test_one_whose_provider_nobody_knows_leads_nowhere_but_back(self, acme):
        connect(acme, {"app_id": "1", "app_secret": "2"}, "wechat")

        refused(acme.get("/social/wechat"), 404, "not available")

    def test_decision_X1_an_unknown_request_is_told(self, acme, provider):
        connect(acme, provider.config)

        refused(acme.get("/social/oidc?interaction=x"), 400, EXPIRED)

    def test_who_waits_for_providers_leaves_threads_to_others(self, acme, provider, monkeypatch):
        connect(acme, provider.config)
        monkeypatch.setattr(provider_calls, "_slots", BoundedSemaphore(1))
        inside = Client()

        with provider_calls.provider_call():
            page = inside.get(f"/t/{acme.tenant.slug}/social/oidc")
        later = inside.get(f"/t/{acme.tenant.slug}/social/oidc")

        assert (page.status_code, page["Retry-After"]) == (503, "2")
        assert "Many people are signing in" in page.content.decode()
        assert later.status_code == 303

    def test_decision_X6_an_address_begins_so_many_and_no_more(self, acme, provider, monkeypatch):
        connect(acme, provider.config)
        monkeypatch.setattr(rules, "SIGN_INS", replace(rules.SIGN_INS, max_hits=2))
        inside = Client(REMOTE_ADDR=f"2001:db8:{secrets.randbelow(9999)}:{secrets.randbelow(9999)}::1")

        statuses = [inside.get(f"/t/{acme.tenant.slug}/social/oidc").status_code for _ in range(3)]

        assert statuses == [303, 303, 429]

    def test_sends_what_the_standards_ask_for_and_nothing_else(self, acme, provider):
        connector = connect(acme, provider.config)

        asked = [query_of(away(acme.browser())) for _ in range(2)]

        assert asked[0].keys() == {
            "response_type", "client_id", "redirect_uri", "scope", "state", "nonce",
            "code_challenge", "code_challenge_method",
        }  # fmt: skip
        assert asked[0]["redirect_uri"] == f"{acme.issuer}/social/callback/{connector.pk}"
        for secret in ("state", "nonce", "code_challenge"):
            assert len(asked[0][secret]) >= 43
            assert asked[0][secret] != asked[1][secret]

    def test_the_provider_is_asked_once_where_it_speaks(self, acme, provider):
        connect(acme, provider.config)

        for _ in range(3):
            away(acme.browser())

        assert len(provider.web.asked) <= 2  # the five minutes may end between


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


class TestOffered:
    def shown(self, world: World) -> list[dict[str, str]]:
        listed = world.get("/api/interaction/sign-in-experience").json()["result"]["social_connectors"]
        page = world.get("/sign-in").text
        for one in listed:
            assert f"/social/{one['connector_id']}" in page
            assert one["name"] in page
        assert page.count("/social/") == len(listed)
        return list(listed)

    def test_an_enabled_connector_is_a_button_until_it_is_none(self, acme, provider):
        assert self.shown(acme) == []
        connector = connect(acme, provider.config, enabled=False)
        assert self.shown(acme) == []
        with acme.active():
            connectors.change(connector, {"enabled": True}, expected=None)
        assert self.shown(acme) == [{"connector_id": "oidc", "name": "OpenID Connect", "type": "Social"}]
        with acme.active():
            connectors.remove(connector, expected=None)
        assert self.shown(acme) == []

    def test_the_newest_come_first_and_one_of_each(self, acme, rival, provider):
        connect(acme, provider.config)
        connect(acme, openid.CLIENT, "google")
        connect(acme, provider.config | {"display_name": "Acme <Staff>"})
        connect(acme, {"app_id": "1"}, "wechat")
        connect(rival, openid.CLIENT, "github")
        connect(acme, {}, "outbox-email", kind="Email")

        listed = acme.get("/api/interaction/sign-in-experience").json()["result"]["social_connectors"]

        assert [(one["connector_id"], one["name"]) for one in listed] == [
            ("wechat", "wechat"),
            ("oidc", "Acme <Staff>"),
            ("google", "Google"),
        ]
        assert "Acme &lt;Staff&gt;" in acme.get("/sign-in").text

    def test_of_two_of_one_provider_the_newest_counts(self, acme, provider):
        connect(acme, openid.CLIENT | {"issuer": "http://127.0.0.1:9"})
        connect(acme, provider.config)

        assert away(acme.browser()).startswith(provider.issuer)

    def test_any_name_makes_a_page(self, acme):
        connect(acme, {}, "a/b?c#d e\u00e4")

        page = acme.get("/sign-in")

        assert page.status_code == 200
        assert f"/t/{acme.tenant.slug}/social/a/b%3Fc%23d%20e%C3%A4" in page.text


class TestAccount:
    """What the account page does."""

    @pytest.fixture
    def person(self, acme, provider, server, settings) -> tuple[Browser, User]:
        settings.BASE_URL = server
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

        refused(page, 400, "linked to somebody else")
        with acme.active():
            assert identities.find_by_user(user) == []
        written = Entry.objects.get(
            tenant_id=acme.tenant.pk, key="SocialIdentity.Create", user_id=str(user.pk)
        )
        assert (written.payload["result"], written.payload["error"]) == ("failed", "linked_elsewhere")

    def test_not_after_signing_out(self, acme, provider, person):
        browser, user = person
        address = self.begun(acme)
        browser.sign_in(acme.user())

        refused(back(browser, provider.approve(address)), 400, EXPIRED)

        with acme.active():
            assert identities.find_by_user(user) == []

    def test_not_long_after_signing_in(self, acme, person):
        with acme.active():
            Session.objects.update(auth_time=timezone.now() - timedelta(minutes=11))

        with pytest.raises(SignInAgain):
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
            credentials.set_password(user, PASSWORD)
            identities.unlink(user, mine.pk)
            with pytest.raises(ServiceError):
                identities.unlink(user, mine.pk)
            assert identities.find_by_user(user) == []
        written = Entry.objects.get(tenant_id=acme.tenant.pk, key="SocialIdentity.Delete")
        assert (written.user_id, written.payload["subject"]) == (str(user.pk), "ada-1")

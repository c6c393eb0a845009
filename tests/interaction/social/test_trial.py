"""Trying a social connector: who may finish a trial, what it shows, and that nothing comes of it."""

import html
import re
from typing import Any

import httpx
import pytest

from audit.models import Entry
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.social.models import SocialAttempt, SocialIdentity
from tests.support import openid
from tests.support.cast import query_of
from tests.support.operators import Operator, administrator
from tests.support.providers import answer
from tests.support.social import allow, away, back, connect, is_in, share_callback, with_proven_email

SITE = "/admin/connectors/connector"
PERSON: dict[str, Any] = {"sub": "42", "name": "Ada <b>Lovelace</b>", "email": "ada@acme.example"}


@pytest.fixture
def provider(development):
    with openid.provider() as running:
        running.publish()
        yield running


@pytest.fixture
def connector(acme, provider) -> Connector:
    return connect(acme, provider.config, enabled=False)


@pytest.fixture
def operator(acme) -> Operator:
    return sign_in(acme)


def sign_in(world: Any, **fields: Any) -> Operator:
    somebody = Operator(administrator(**fields))
    somebody.http.base_url = httpx.URL(world.address.partition("/t/")[0])
    somebody.sign_in()
    return somebody.choose(world)


def begin(operator: Operator, connector: Connector) -> str:
    """Press *Try it*; return where the new tab is sent."""
    answer = operator.submit(f"{SITE}/{connector.pk}/do/try/")
    assert answer.status_code == 303, answer.text
    return str(answer.headers["Location"])


def finish(operator: Operator, address: str, query: dict[str, str]) -> Any:
    """Come back to the callback; return the answer of the operators' site before its redirect."""
    passed_on = operator.get(query_of(address)["redirect_uri"], params=query)
    assert passed_on.status_code == 303
    return operator.get(passed_on.headers["Location"])


def read(operator: Operator, answer: Any) -> str:
    assert answer.status_code == 302, answer.text
    page = operator.get(answer.headers["Location"])
    assert page.status_code == 200
    return html.unescape(re.sub(r"<[^>]+>", "", page.text))


def try_it(operator: Operator, connector: Connector, provider: Any, **person: Any) -> str:
    address = begin(operator, connector)
    return read(operator, finish(operator, address, provider.approve(address, **PERSON | person)))


def entries(world: Any) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key="Connector.Test").order_by("created_at"))


def test_it_shows_the_claims_and_makes_nothing(acme, operator, connector, provider):
    address = begin(operator, connector)
    asked = query_of(address)
    came = finish(operator, address, provider.approve(address, **PERSON, email_verified=True))
    shown = operator.get(came.headers["Location"])
    page = html.unescape(re.sub(r"<[^>]+>", "", shown.text))

    assert asked["code_challenge_method"] == "S256"
    assert len(asked["nonce"]) >= 43
    assert asked["redirect_uri"] == f"{acme.issuer}/social/callback/{connector.pk}"
    assert "works." in page
    assert '"sub": "42"' in page
    assert "verified by the provider" in page
    assert "A new user would be created, with this email." in page
    assert "<b>Lovelace" not in shown.text
    assert "theirs" not in page, "no access token"
    assert "no-store" in shown.headers["Cache-Control"]
    assert operator.get(came.headers["Location"]).status_code == 200, "it can be reloaded"
    with acme.active():
        rows = [kind.objects.count() for kind in (User, SocialIdentity, Session, SocialAttempt)]
    assert rows == [0, 0, 0, 0]
    (entry,) = entries(acme)
    assert (entry.payload["result"], entry.payload["kind"]) == ("success", "sign_in")
    assert entry.payload["administrator_id"] == operator.who.pk


def test_it_says_which_user_would_sign_in(acme, operator, connector, provider):
    user = with_proven_email(acme, "ada@acme.example")

    refused = try_it(operator, connector, provider, email_verified=True)
    allow(acme, automatic_account_linking=True)
    linked = try_it(operator, connector, provider, email_verified=True)
    unverified = try_it(operator, connector, provider)

    assert "does not link accounts automatically" in refused
    assert "would be linked to this user" in linked
    assert user.username in linked or "ada@acme.example" in linked
    assert "A new user would be created, without an email." in unverified
    assert "not verified: not used" in unverified


def test_an_answer_is_used_once_and_only_in_the_session_that_began(acme, operator, connector, provider):
    address = begin(operator, connector)
    query = provider.approve(address, **PERSON)
    other_session = Operator(operator.who)
    other_session.sign_in()
    other_session.choose(acme)
    passed_on = operator.get(query_of(address)["redirect_uri"], params=query).headers["Location"]

    elsewhere = other_session.get(passed_on)
    wrong_secret = operator.get(passed_on.replace(query["state"][-5:], "xxxxx"))
    address = begin(operator, connector)
    query = provider.approve(address, **PERSON)
    first, second = finish(operator, address, query), finish(operator, address, query)

    for refused in (elsewhere, wrong_secret, second):
        assert refused.status_code == 400
        assert "try again" in refused.text
    assert first.status_code == 302
    assert other_session.get(first.headers["Location"]).status_code == 410


def test_a_trial_cannot_become_the_sign_in_of_a_user(acme, operator, connector, provider):
    connect(acme, provider.config)
    browser, somebody = acme.browser(), acme.browser()
    address = begin(operator, connector)
    of_trial = provider.approve(address, **PERSON)
    of_user = provider.approve(away(browser), **PERSON)

    led_on = somebody.get(query_of(address)["redirect_uri"], params=of_trial)
    refused = operator.get(f"{SITE}/{connector.pk}/do/try/", params=of_user)

    assert led_on.headers["Location"].startswith("/admin/connectors/connector/")
    assert not is_in(somebody)
    assert refused.status_code == 400
    assert back(browser, of_user).status_code == 303
    assert is_in(browser)


def test_no_other_connector_tenant_or_callback_finishes_it(acme, rival, operator, connector, provider):
    other = connect(acme, provider.config, enabled=False)
    shared = connect(acme, provider.config, enabled=False)
    share_callback(acme, shared)
    address = begin(operator, connector)
    query = provider.approve(address, **PERSON)
    theirs = sign_in(rival)

    assert theirs.get(f"{SITE}/{connector.pk}/do/try/").status_code == 404
    assert theirs.http.post(f"{SITE}/{connector.pk}/do/try/").status_code in {403, 404}
    assert theirs.get(f"{SITE}/{connector.pk}/do/try/", params=query).status_code == 404
    for path in (f"/social/callback/{other.pk}", "/social/callback"):
        passed_on = operator.get(f"{acme.issuer}{path}", params=query).headers["Location"]
        assert operator.get(passed_on).status_code == 400, path
    older = begin(operator, shared)
    assert query_of(older)["redirect_uri"] == f"{acme.issuer}/social/callback"
    assert finish(operator, older, provider.approve(older, **PERSON)).status_code == 302


@pytest.mark.parametrize("role", ["auditor", "support"])
def test_only_administrators_try_connectors(acme, connector, role):
    somebody = sign_in(acme, tenants=[acme.tenant.slug], role=role)

    assert somebody.get(f"{SITE}/{connector.pk}/do/try/").status_code == 403
    assert "do/try/" not in somebody.get(f"{SITE}/{connector.pk}/change/").text


def test_it_says_why_a_sign_in_failed(acme, operator, connector, provider):
    provider.lie = {"aud": "another"}
    audience = try_it(operator, connector, provider)
    provider.lie = {"nonce": "another"}
    nonce = try_it(operator, connector, provider)
    provider.lie = {}
    address = begin(operator, connector)
    state = query_of(address)["state"]
    denied = read(operator, finish(operator, address, {"state": state, "error": "access_denied"}))
    address = begin(operator, connector)
    made_up = read(operator, finish(operator, address, {"state": query_of(address)["state"], "code": "x"}))

    assert "Compare the client ID" in audience
    assert "put the nonce of the request" in nonce
    assert "the sign-in was stopped at the provider" in denied
    assert "compare the redirect URI" in made_up
    reasons = [(entry.payload["error"], entry.payload.get("reason")) for entry in entries(acme)]
    assert reasons == [
        ("provider_failed", "audience"),
        ("provider_failed", "nonce"),
        ("declined", None),
        ("provider_failed", "code_refused"),
    ]


@pytest.mark.parametrize(
    ("key_set", "problem"),
    [
        ({"keys": [], "more": "x" * 65_536}, "must have at most 64 KiB"),
        ({"keys": [{}] * 51}, "keys: at most 50"),
    ],
)
def test_it_says_that_a_key_set_is_too_large(operator, connector, provider, key_set, problem):
    provider.web.answers["/jwks"] = answer(200, key_set)

    assert problem in try_it(operator, connector, provider)


def test_a_provider_that_cannot_be_reached_is_named_at_once(acme, operator, connector, provider):
    provider.web.answers.pop("/.well-known/openid-configuration")
    with acme.active():
        Connector.objects.filter(pk=connector.pk).update(enabled=True)

    refused = operator.submit(f"{SITE}/{connector.pk}/do/try/")

    assert refused.status_code == 502
    assert "discovery document" in refused.text
    assert entries(acme)[0].payload["reason"] == "answer"


def test_whatever_comes_back_is_never_an_error_of_ours(operator, connector):
    page = f"{SITE}/{connector.pk}/do/try/"
    for state in (
        "x",
        "try",
        "try...",
        "try.a.b.c",
        f"try.{connector.pk}.{connector.pk}.x",
        "é" * 99,
        "y" * 999,
    ):
        assert operator.get(page, params={"state": state, "code": "x"}).status_code == 400, state
        assert operator.get(f"/social/callback/{connector.pk}", params={"state": state}).status_code < 500
    for query in ("?shown=x", f"?shown={connector.pk}"):
        assert operator.get(page + query).status_code == 410
    assert operator.get(f"{page}?code=x").status_code == 400


def test_the_page_of_a_connector_says_why_sign_ins_failed(acme, operator, connector, provider):
    with acme.active():
        Connector.objects.filter(pk=connector.pk).update(enabled=True)
    other = connect(acme, openid.CLIENT, "github")
    provider.lie = {"aud": "another"}
    browser = acme.browser()
    back(browser, provider.approve(away(browser), **PERSON))

    page = operator.get(f"{SITE}/{connector.pk}/change/").text
    of_other = operator.get(f"{SITE}/{other.pk}/change/").text

    assert "Latest sign-ins" in page
    assert "(the ID token is for another client). Compare the client ID" in page
    assert "another client" not in of_other
    assert "None." in of_other

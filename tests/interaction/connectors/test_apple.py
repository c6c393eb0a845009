"""Sign in with Apple: its documented contract, and the answer that its page posts without our cookies."""

import json
import re
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from identity.core.errors import ServiceError
from interaction.connectors import configs, masking, provider_keys, relying_party, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import apple, registry
from interaction.social.models import SocialAttempt, SocialIdentity
from tests.support import in_process
from tests.support.apple import CONFIG, KEY, SIGNING_KEY, SUBJECT, AppleServer, pem
from tests.support.cast import Browser, World, query_of
from tests.support.connectors import create
from tests.support.in_process import InProcessWorld
from tests.support.operators import Operator, administrator
from tests.support.providers import WebProvider, answer
from tests.support.social import away, connect, is_in
from tests.support.social_pages import EXPIRED, NOT_BELIEVED, Refusal, entry, find_refusal, only_user


@pytest.fixture
def server(web_provider: WebProvider, monkeypatch: pytest.MonkeyPatch) -> AppleServer:
    relying_party._cache.clear()
    provider_keys._cache.clear()
    monkeypatch.setattr(apple, "ISSUER", web_provider.address)
    return AppleServer(web_provider)


@pytest.fixture
def here(acme: World, server: AppleServer) -> World:
    return InProcessWorld.of(acme)


@pytest.fixture
def connector(here: World) -> Connector:
    return connect(here, CONFIG, "apple")


def post(browser: Browser, connector: Connector, form: dict[str, str]) -> httpx.Response:
    """Post the form of Apple's page: from another site, so without the browser's cookies."""
    headers = {"Origin": "https://appleid.apple.com", "Cookie": ""}
    other = browser.world.browser()
    return other.post(f"/social/callback/{connector.pk}", data=form, headers=headers)


def come(browser: Browser, connector: Connector, server: AppleServer, user: Any = None) -> httpx.Response:
    """Go to Apple, sign in there, and come back."""
    posted = post(browser, connector, server.approve(away(browser, "apple"), user))
    assert posted.status_code == 303
    return browser.get(posted.headers["Location"])


NAME = {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "x4t2r@privaterelay.appleid.com"}


class TestSigningIn:
    def test_creates_a_user_with_the_name_of_the_first_sign_in(self, here, connector, server):
        browser = here.browser()

        assert come(browser, connector, server, NAME).status_code == 303

        assert is_in(browser)
        user = only_user(here)
        assert (user.name, user.email) == ("Ada Lovelace", "x4t2r@privaterelay.appleid.com")
        assert user.email_verified
        with here.active():
            identity = SocialIdentity.objects.get()
        assert (identity.provider, identity.subject) == (apple.ISSUER, SUBJECT)
        assert identity.name == "Ada Lovelace"

    def test_again_finds_the_user_and_keeps_the_name(self, here, connector, server):
        come(here.browser(), connector, server, NAME)
        browser = here.browser()

        come(browser, connector, server)

        assert is_in(browser)
        assert only_user(here).name == "Ada Lovelace"
        with here.active():
            assert SocialIdentity.objects.get().name == "Ada Lovelace"

    @pytest.mark.parametrize(
        ("verified", "expected"),
        [(True, True), ("true", True), (False, False), ("false", False), (None, False)],
    )
    def test_an_address_is_verified_as_apple_says(self, here, connector, server, verified, expected):
        server.claims = {"email_verified": verified, "is_private_email": False, "email": "ada@example.com"}

        come(here.browser(), connector, server)

        assert only_user(here).email == ("ada@example.com" if expected else "")

    def test_an_account_without_an_address_has_none(self, here, connector, server):
        server.claims = {"email": None, "email_verified": None}

        come(here.browser(), connector, server)

        assert only_user(here).email == ""

    @pytest.mark.parametrize(
        ("claims", "reason"),
        [
            ({"iss": "https://account.evil.example"}, "issuer"),
            ({"aud": "com.other.web"}, "audience"),
            ({"nonce": "another"}, "nonce"),
            ({"nonce": None}, "nonce"),
            ({"exp": 1}, "expired"),
        ],
    )
    def test_a_token_of_another_sign_in_is_refused(self, here, connector, server, claims, reason):
        server.claims = claims
        browser = here.browser()

        assert find_refusal(come(browser, connector, server), NOT_BELIEVED) == Refusal(502)

        assert not is_in(browser)
        assert entry(here).payload["error"] == "provider_failed"
        assert entry(here).payload["reason"] in {reason, "missing_claim"}


class TestThePostedAnswer:
    def test_becomes_a_get_without_the_name(self, here, connector, server):
        form = server.approve(away(here.browser(), "apple"), NAME)

        posted = post(here.browser(), connector, form | {"id_token": "theirs"})

        assert posted.status_code == 303
        assert posted.headers["Cache-Control"] == "no-store"
        location = posted.headers["Location"]
        assert location.partition("?")[0].endswith(f"/social/callback/{connector.pk}")
        assert query_of(location) == {"state": form["state"], "code": form["code"]}
        assert "set-cookie" not in posted.headers
        with here.active():
            assert "Ada" not in SocialAttempt.objects.get().sealed_secrets

    def test_is_worth_nothing_in_another_browser(self, here, connector, server):
        """Else a page of an attacker could sign its visitors in as the attacker."""
        form = server.approve(away(here.browser(), "apple"), NAME)
        victim = here.browser()
        away(victim, "apple")

        location = post(victim, connector, form).headers["Location"]

        assert find_refusal(victim.get(location), EXPIRED) == Refusal(400)
        assert not is_in(victim)

    def test_is_good_once(self, here, connector, server):
        browser = here.browser()
        form = server.approve(away(browser, "apple"))
        location = post(browser, connector, form).headers["Location"]

        assert browser.get(location).status_code == 303
        again = post(browser, connector, form).headers["Location"]
        assert find_refusal(browser.get(again), EXPIRED) == Refusal(400)

    def test_of_a_user_who_canceled_is_said(self, here, connector, server):
        browser = here.browser()
        state = query_of(away(browser, "apple"))["state"]

        answer = post(browser, connector, {"state": state, "error": "user_cancelled_authorize"})

        page = browser.get(answer.headers["Location"])
        assert find_refusal(page, "You didn&#x27;t finish") == Refusal(400)

    def test_at_the_callback_of_another_tenant_changes_nothing(self, here, rival, connector, server):
        other = InProcessWorld.of(rival)
        theirs = connect(other, CONFIG, "apple")
        form = server.approve(away(here.browser(), "apple"), NAME)
        with here.active():
            before = SocialAttempt.objects.get().sealed_secrets

        for world, pk in ((other, theirs.pk), (other, connector.pk), (here, theirs.pk)):
            assert world.post(f"/social/callback/{pk}", data=form).status_code == 303

        with here.active():
            assert SocialAttempt.objects.get().sealed_secrets == before

    def test_at_the_callback_of_a_provider_that_redirects_keeps_no_name(self, here, server, web_provider):
        config = dict.fromkeys(OAUTH2, f"{web_provider.address}/x")
        client = {"client_id": "x", "client_secret": "y"}
        made = connect(here, config | client, "oauth2")
        state = query_of(away(here.browser(), "oauth2"))["state"]
        with here.active():
            before = SocialAttempt.objects.get().sealed_secrets

        post(here.browser(), made, {"state": state, "code": "x", "user": json.dumps(NAME)})

        with here.active():
            assert SocialAttempt.objects.get().sealed_secrets == before

    @pytest.mark.parametrize(
        "form",
        [
            {},
            {"state": "\0", "code": "\0"},
            {"state": "x" * 10_000, "code": "y" * 4096},
            {"state": "ü\ud7ff", "user": "{"},
            {"state": "x", "error": "\r\nSet-Cookie: a=b"},
        ],
    )
    def test_of_nobody_is_an_expired_sign_in(self, here, connector, form):
        browser = here.browser()

        posted = post(browser, connector, form)

        assert posted.status_code == 303
        assert len(posted.headers["Location"]) < 5000
        assert find_refusal(browser.get(posted.headers["Location"]), EXPIRED) == Refusal(400)

    def test_is_not_accepted_at_the_shared_callback(self, here):
        assert here.post("/social/callback", data={"state": "x"}).status_code == 403


OAUTH2 = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint")


@pytest.mark.parametrize(
    ("user", "name"),
    [
        (json.dumps(NAME), "Ada Lovelace"),
        ('{"name": {"firstName": "Ada"}}', "Ada"),
        ('{"name": {"firstName": " Ada\\n", "lastName": 3}}', "Ada"),
        ('{"name": {"firstName": null, "lastName": ""}}', ""),
        ('{"name": "Ada"}', ""),
        ('{"email": "ada@example.com"}', ""),
        ("[]", ""),
        ("{", ""),
        ("", ""),
        (json.dumps({"name": {"firstName": "A" * 5000}}), ""),
        (json.dumps({"name": {"firstName": "A" * 255, "lastName": "B" * 255}}), "A" * 255),
        (json.dumps({"name": {"firstName": "A" * 200, "lastName": "B" * 200}}), "A" * 200 + " " + "B" * 55),
    ],
)
def test_a_name_is_read_from_what_apple_posts(user, name):
    assert apple.Apple().read_name(user) == name


# ── The configuration ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "key",
    [
        pem(),
        pem().replace("\n", "\r\n"),
        f"  {pem()}\n\n",
        pem().replace("\n", ""),  # as an input of one line sends it
        pem().replace("\n", " "),
    ],
)
def test_a_key_may_lose_its_line_breaks(key):
    config = configs.validate(registry.find("apple"), CONFIG | {"private_key": key})

    secret = apple._build_client_secret(config)

    assert jwt.decode(secret, KEY.public_key(), ["ES256"], audience=apple.ISSUER)["sub"] == "com.example.web"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"client_id": ""}, "client_id"),
        ({"client_id": "com.example web"}, "client_id"),
        ({"team_id": "abcde12345"}, "team_id"),
        ({"team_id": "ABCDE1234"}, "team_id"),
        ({"key_id": "KEY1234567\n"}, "key_id"),
        ({"private_key": ""}, "private_key"),
        ({"private_key": 3}, "private_key"),
        ({"private_key": "AuthKey_KEY1234567.p8"}, "private_key"),
        ({"private_key": pem()[:-40]}, "private_key"),
        ({"private_key": pem().replace("M", "N", 1)}, "private_key"),
        ({"private_key": f"{pem()}\0"}, "private_key"),
        ({"private_key": pem() * 20}, "private_key"),
        ({"private_key": pem(ec.generate_private_key(ec.SECP384R1()))}, "private_key"),
        ({"private_key": pem(SIGNING_KEY)}, "private_key"),
        ({"private_key": pem(KEY, serialization.PrivateFormat.TraditionalOpenSSL)}, "private_key"),
    ],
)
def test_a_wrong_configuration_is_refused_by_its_field(changes: dict[str, Any], name: str):
    with pytest.raises(ServiceError, match=f"^config.{name}: ") as refusal:
        configs.validate(registry.find("apple"), CONFIG | changes)
    assert pem().splitlines()[1] not in str(refusal.value)


def test_the_key_is_kept_and_never_shown(acme):
    connector = create(acme, "apple", "Social", **CONFIG)
    provider = registry.find("apple")

    shown = masking.mask(provider, connector.config())

    assert shown["private_key"] == "***"
    kept = configs.validate(provider, {**shown, "key_id": "KEY7654321"}, connector.config())
    assert kept["private_key"] == CONFIG["private_key"]


def test_the_test_redeems_a_made_up_code(here, connector, server):
    with here.active():
        assert services.test(connector, to="") == "Apple accepts this configuration"


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            answer(400, {"error": "invalid_client"}),
            "this client_id with this team_id, key_id and private_key",
        ),
        (answer(500, {}), "HTTP 500"),
        ((200, {}, b"<html>"), "HTTP 200"),
    ],
)
def test_a_failed_test_says_why(here, connector, server, reply, text):
    server.web.answers["/auth/token"] = reply

    with here.active(), pytest.raises(services.NotWorking) as refusal:
        services.test(connector, to="")

    assert text in str(refusal.value.result)


def test_a_key_of_another_team_is_said(here, server):
    other = CONFIG | {"private_key": pem(ec.generate_private_key(ec.SECP256R1()))}
    made = connect(here, other, "apple")

    with here.active(), pytest.raises(services.NotWorking) as refusal:
        services.test(made, to="")
    assert "does not accept this client_id" in str(refusal.value.result)


def test_a_trial_shows_the_name_that_apple_posts(here, connector, server):
    operator = Operator(administrator(), http=in_process.new_client())
    operator.http.base_url = httpx.URL(here.address.partition("/t/")[0])
    operator.sign_in()
    operator.choose(here)
    begun = operator.submit(f"/admin/connectors/connector/{connector.pk}/do/try/")

    posted = post(here.browser(), connector, server.approve(begun.headers["Location"], NAME))
    passed_on = operator.get(posted.headers["Location"])
    finished = operator.get(passed_on.headers["Location"])
    page = operator.get(finished.headers["Location"]).text

    assert "Ada" not in posted.headers["Location"] + passed_on.headers["Location"]
    assert "<dt>Name</dt><dd>Ada Lovelace" in page


def test_the_form_of_operators_never_shows_a_key(acme, development):
    operator = Operator(administrator())
    operator.sign_in()
    operator.choose(acme)
    form = "/admin/connectors/connector/do/create-apple/"
    hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', operator.get(form).text))

    refused = operator.http.post(form, data=hidden | CONFIG | {"team_id": "x"})
    made = operator.http.post(form, data=hidden | CONFIG)

    assert refused.status_code == 400
    assert "ten capital letters and digits" in refused.text
    assert re.search(r'<textarea name="private_key"[^>]*>\s*</textarea>', refused.text)
    assert made.status_code == 303
    page = operator.get(made.headers["Location"]).text
    assert pem().splitlines()[1] not in refused.text + page
    with acme.active():
        assert Connector.objects.get().config()["private_key"].split() == CONFIG["private_key"].split()

"""The ``claims`` parameter of authorization requests (OpenID Connect Core 5.5)."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from identity.organizations import services as organizations
from identity.organizations.models import Organization
from identity.users.models import User
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily
from tests.support import forgery
from tests.support.cast import Browser, RelyingParty, World, query_of
from tests.support.forms import form
from tests.support.independent import claims_of

EVERYTHING = [
    *("name", "username", "preferred_username", "picture", "gender", "updated_at"),
    *("email", "email_verified"),
    *("phone_number", "phone_number_verified", "organizations", "organization_roles"),
]
PROTOCOL = {"iss", "sub", "aud", "iat", "exp", "auth_time", "sid", "at_hash", "amr", "nonce"}


@pytest.fixture
def person(acme: World) -> User:
    """Somebody of whom everything is known."""
    user = acme.user(
        name="Ada Lovelace",
        email="ada@example.com",
        phone="+441234567890",
        avatar="https://example.com/ada.png",
        custom_data={"gender": "female"},
    )
    with acme.active():
        organization = Organization.objects.create(name="Analytical Engines")
        organizations.add_members(organization.pk, [str(user.pk)])
    return user


def asking(userinfo: Any = None, id_token: Any = None, **more: Any) -> str:
    """A claims parameter: names stand for what is asked for without conditions."""
    document: dict[str, Any] = {**more}
    for place, wanted in {"userinfo": userinfo, "id_token": id_token}.items():
        if wanted is not None:
            document[place] = dict.fromkeys(wanted) if isinstance(wanted, list) else wanted
    return json.dumps(document)


def told(client: RelyingParty, tokens: dict[str, Any]) -> tuple[set[str], set[str]]:
    """What userinfo and the ID token say beyond who it is."""
    answer = client.userinfo(tokens["access_token"])
    assert answer.status_code == 200, answer.text
    return answer.json().keys() - {"sub"}, claims_of(tokens["id_token"]).keys() - PROTOCOL


def said(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 303, answer.text
    return query_of(answer.headers["Location"])


def signed_in(world: World, user: User) -> Browser:
    browser = world.browser()
    assert browser.sign_in(user).status_code == 200
    return browser


class TestWhatIsReleased:
    @pytest.mark.parametrize("name", EVERYTHING)
    def test_a_claim_is_told_where_it_was_asked_for_and_nowhere_else(self, acme, person, name):
        client = acme.application()

        at_userinfo = client.tokens_for(person, scope="openid", claims=asking(userinfo=[name]))
        in_id_token = client.tokens_for(person, scope="openid", claims=asking(id_token=[name]))

        assert told(client, at_userinfo) == ({name}, set())
        assert told(client, in_id_token) == (set(), {name})

    def test_has_the_value_that_its_scope_would_have_released(self, acme, person):
        client = acme.application()
        scope = "openid profile email phone urn:service:scope:organizations"

        by_scope = client.userinfo(client.tokens_for(person, scope=scope)["access_token"]).json()
        tokens = client.tokens_for(person, scope="openid", claims=asking(EVERYTHING, EVERYTHING))

        by_name = client.userinfo(tokens["access_token"]).json()
        in_id_token = claims_of(tokens["id_token"])
        assert by_scope.items() <= by_name.items()
        assert {name: in_id_token[name] for name in by_scope} == by_scope

    @pytest.mark.parametrize(
        "wanted",
        [
            None,
            {},
            {"essential": True},
            {"essential": False},
            {"essential": "yes"},
            {"value": "somebody@else.example"},
            {"values": ["a", "b"]},
            {"values": "none"},
            {"purpose": "to write to you"},
        ],
    )
    def test_comes_whatever_was_said_of_it(self, acme, person, wanted):
        """Core 5.5.1: no error when a claim cannot be had, or not with that value."""
        client = acme.application()

        tokens = client.tokens_for(person, scope="openid", claims=asking(userinfo={"email": wanted}))

        assert client.userinfo(tokens["access_token"]).json()["email"] == "ada@example.com"

    def test_that_has_no_value_is_left_out_however_essential(self, acme):
        client, nobody = acme.application(), acme.user()
        wanted = {name: {"essential": True} for name in EVERYTHING}

        tokens = client.tokens_for(nobody, scope="openid", claims=asking(wanted, wanted))

        always = {*("username", "preferred_username", "updated_at", "organizations", "organization_roles")}
        assert told(client, tokens) == (always, always)

    def test_adds_to_what_scopes_release(self, acme, person):
        client = acme.application()

        tokens = client.tokens_for(
            person, scope="openid email", claims=asking(userinfo=["name"], id_token=["phone_number"])
        )

        assert told(client, tokens) == (
            {"email", "email_verified", "name"},
            {"email", "email_verified", "phone_number"},
        )

    @pytest.mark.parametrize(
        "claims",
        [
            "{}",
            '{"userinfo": null, "id_token": null}',
            '{"userinfo": [], "id_token": "name"}',
            '{"userinfo": {"name": true, "email": "x", "username": [], "picture": 0}}',
            '{"userinfo": {"shoe_size": null, "password": null, "custom_data": null, "": null}}',
            '{"id_token": {"auth_time": {"essential": true}, "iss": {"value": "https://evil.example"}}}',
            '{"somewhere": {"name": null}}',
            '{"userinfo": {"organization_id": null, "organization_is_admin": null}}',
        ],
    )
    def test_what_is_not_understood_is_ignored(self, acme, person, claims):
        client = acme.application()

        tokens = client.tokens_for(person, scope="openid", claims=claims)

        assert told(client, tokens) == (set(), set())
        assert claims_of(tokens["id_token"])["iss"] == acme.issuer

    def test_no_claim_of_the_protocol_can_be_changed(self, acme, person):
        client = acme.application()
        wanted = {name: {"value": "x"} for name in PROTOCOL - {"sub"}}

        tokens = client.tokens_for(person, scope="openid", claims=asking(id_token=wanted))

        assert "x" not in claims_of(tokens["id_token"]).values()


class TestGrant:
    def test_a_refresh_tells_the_same_also_with_fewer_scopes(self, acme, person):
        client = acme.application()
        tokens = client.tokens_for(
            person, scope="openid email offline_access", claims=asking(["name"], ["gender"])
        )

        again = client.refresh(tokens["refresh_token"]).json()
        narrow = client.refresh(again["refresh_token"], scope="openid").json()

        assert told(client, again) == (
            {"name", "email", "email_verified"},
            {"gender", "email", "email_verified"},
        )
        assert told(client, narrow) == ({"name"}, {"gender"})

    def test_only_known_names_are_kept(self, acme, person):
        client = acme.application()
        names = [f"claim{n}" for n in range(50)]

        tokens = client.tokens_for(
            person, scope="openid offline_access", claims=asking([*names, "name"], names)
        )

        with acme.active():
            assert AuthorizationCode.objects.get().claims == {"userinfo": ["name"]}
            assert RefreshFamily.objects.get().claims == {"userinfo": ["name"]}
        assert claims_of(tokens["access_token"])["userinfo_claims"] == ["name"]

    def test_an_access_token_names_what_its_scopes_do_not_release(self, acme, person):
        client = acme.application()
        asked = asking(["name", "email", "phone_number"])

        some = client.tokens_for(person, scope="openid email", claims=asked)
        none = client.tokens_for(person, scope="openid profile email phone", claims=asked)

        assert claims_of(some["access_token"])["userinfo_claims"] == ["name", "phone_number"]
        assert "userinfo_claims" not in claims_of(none["access_token"])

    def test_survives_the_wait_at_the_sign_in_page(self, acme, person):
        client, browser = acme.application(), acme.browser()

        code = browser.code_for(client, person, scope="openid", prompt="login", claims=asking(["name"]))

        assert told(client, client.redeem(code).json()) == ({"name"}, set())

    @pytest.mark.parametrize(
        "names", ["name", {"name": 1}, 1, None, [["name"], {}, 1, None, "shoe_size"], ["sub", "password"]]
    )
    def test_names_of_another_shape_release_nothing(self, acme, person, names):
        client = acme.application()
        token = client.tokens_for(person, scope="openid")["access_token"]

        answer = client.userinfo(forgery.signed_by(acme, claims_of(token) | {"userinfo_claims": names}))

        assert answer.json() == {"sub": str(person.pk)}


class TestSubject:
    """Core 3.1.2.2: the server MUST NOT reply for a different user, even with an active session."""

    @pytest.mark.parametrize("place", ["userinfo", "id_token"])
    def test_of_who_is_signed_in_is_answered(self, acme, person, place):
        client = acme.application()
        wanted = {place: {"sub": {"value": str(person.pk)}}}

        answer = signed_in(acme, person).authorize(client, prompt="none", claims=asking(**wanted))

        assert "code" in said(answer)

    def test_one_of_several_is_answered(self, acme, person):
        client = acme.application()
        wanted = {"sub": {"values": [str(uuid4()), str(person.pk)]}}

        answer = signed_in(acme, person).authorize(client, prompt="none", claims=asking(id_token=wanted))

        assert "code" in said(answer)

    @pytest.mark.parametrize("wanted", [None, {"essential": True}, {"values": []}, {"value": None}])
    def test_that_is_none_in_particular_is_anybodys(self, acme, person, wanted):
        client = acme.application()

        answer = signed_in(acme, person).authorize(
            client, prompt="none", claims=asking(id_token={"sub": wanted})
        )

        assert "code" in said(answer)

    @pytest.mark.parametrize(
        "wanted",
        [{"value": "somebody"}, {"value": 7}, {"value": ["x"]}, {"values": [7, None, {}]}, {"value": ""}],
    )
    @pytest.mark.parametrize("place", ["userinfo", "id_token"])
    def test_of_somebody_else_is_login_required(self, acme, person, place, wanted):
        client = acme.application()
        claims = asking(**{place: {"sub": wanted}})
        browser = signed_in(acme, person)

        silent = browser.authorize(client, prompt="none", claims=claims)
        page = said(browser.authorize(client, claims=claims))
        onward = browser.sign_in(person, interaction=page["interaction"]).json()["result"]["redirect_to"]

        assert said(silent)["error"] == said(browser.get(onward))["error"] == "login_required"

    def test_is_answered_once_the_right_person_signed_in(self, acme, person):
        client, browser = acme.application(), signed_in(acme, acme.user())
        claims = asking(id_token={"sub": {"value": str(person.pk)}})

        page = said(browser.authorize(client, claims=claims))
        onward = browser.sign_in(person, interaction=page["interaction"]).json()["result"]["redirect_to"]

        tokens = client.redeem(said(browser.get(onward))["code"]).json()
        assert claims_of(tokens["id_token"])["sub"] == str(person.pk)

    def test_two_that_contradict_each_other_are_nobody(self, acme, person):
        client = acme.application()
        claims = asking({"sub": {"value": str(person.pk)}}, {"sub": {"value": str(uuid4())}})

        answer = signed_in(acme, person).authorize(client, prompt="none", claims=claims)

        assert said(answer)["error"] == "login_required"

    def test_and_a_hint_must_both_be_met(self, acme, person):
        client, other = acme.application(), acme.user()
        hint = client.tokens_for(other)["id_token"]
        claims = asking(id_token={"sub": {"value": str(person.pk)}})

        answer = signed_in(acme, person).authorize(client, prompt="none", claims=claims, id_token_hint=hint)

        assert said(answer)["error"] == "login_required"


class TestAcr:
    @pytest.mark.parametrize("condition", [{"values": ["urn:mace:incommon:iap:silver"]}, {"value": "1"}])
    def test_that_is_essential_and_cannot_be_had_fails(self, acme, person, condition):
        """Core 5.5.1.1: the server MUST treat that outcome as a failed authentication attempt."""
        client = acme.application()
        claims = asking(id_token={"acr": {"essential": True} | condition})

        answers = [
            signed_in(acme, person).authorize(client, claims=claims),
            acme.browser().authorize(client, claims=claims, prompt="none"),
        ]

        assert [said(answer)["error"] for answer in answers] == ["unmet_authentication_requirements"] * 2

    @pytest.mark.parametrize(
        "claims",
        [
            asking(id_token={"acr": {"values": ["1"]}}),
            asking(id_token={"acr": {"essential": True}}),
            asking(id_token={"acr": {"essential": True, "values": []}}),
            asking(id_token={"acr": None}),
            asking(userinfo={"acr": {"essential": True, "values": ["1"]}}),
        ],
    )
    def test_else_is_left_out(self, acme, person, claims):
        client = acme.application()

        tokens = client.tokens_for(person, scope="openid", claims=claims)

        assert told(client, tokens) == (set(), set())


class TestConsent:
    """A third party gets no claim that its person did not agree to."""

    @pytest.mark.parametrize("place", ["userinfo", "id_token"])
    def test_case_A29_is_asked_for_in_words(self, acme, person, place):
        client, browser = acme.application(is_third_party=True), signed_in(acme, person)
        claims = asking(**{place: ["phone_number"]})

        silent = browser.authorize(client, scope="openid", claims=claims, prompt="none")
        page = browser.get(browser.authorize(client, scope="openid", claims=claims).headers["Location"])

        assert said(silent)["error"] == "consent_required"
        assert "See your phone number" in page.text
        assert "See your email address" not in page.text

    def test_that_was_given_covers_the_claim_and_no_other(self, acme, person):
        client, browser = acme.application(is_third_party=True), signed_in(acme, person)
        claims = asking(["phone_number"])
        page = browser.get(browser.authorize(client, scope="openid", claims=claims).headers["Location"])

        onward = form(page).submit(browser, choice="allow").headers["Location"]
        tokens = client.redeem(said(browser.get(onward))["code"]).json()
        again = browser.authorize(client, scope="openid", claims=claims, prompt="none")
        other = browser.authorize(client, scope="openid", claims=asking(["email"]), prompt="none")

        assert told(client, tokens) == ({"phone_number"}, set())
        assert "code" in said(again)
        assert said(other)["error"] == "consent_required"
        with acme.active():
            assert Consent.objects.get().scopes == ["openid", "phone"]

    def test_to_openid_alone_covers_no_claim(self, acme, person):
        client, browser = acme.application(is_third_party=True), signed_in(acme, person)
        page = browser.get(browser.authorize(client, scope="openid").headers["Location"])
        form(page).submit(browser, choice="allow")

        plain = browser.authorize(client, scope="openid", prompt="none")
        more = browser.authorize(client, scope="openid", prompt="none", claims=asking(id_token=["email"]))

        assert "code" in said(plain)
        assert said(more)["error"] == "consent_required"

"""What access and ID tokens say and how long they live, checked by libraries that did not make them."""

import base64
import hashlib
import json
import re
import time
from datetime import timedelta

import pytest
from django.db.models import F
from joserfc import jwk
from joserfc import jwt as joserfc_jwt

from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from tests.support.forgery import signed_by
from tests.support.independent import bearer, claims_of, header_of, key_set, verified
from tests.support.tokens import is_refused

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def named(value) -> str:
    """Return a short name of a case."""
    return repr(value)[:20]


class TestAccessToken:
    def test_decision_O1_is_a_jwt_as_in_rfc_9068(self, acme, client):
        user = acme.user()

        token = client.tokens_for(user, scope="openid email")["access_token"]

        claims = verified(token, key_set(acme))
        assert header_of(token) == {"alg": "ES256", "typ": "at+jwt", "kid": key_set(acme)["keys"][0]["kid"]}
        assert set(claims) == {
            *("iss", "sub", "aud", "client_id", "azp", "exp", "iat", "jti", "scope", "sid")
        }
        assert (claims["iss"], claims["aud"]) == (acme.issuer, acme.issuer)
        assert (claims["sub"], claims["client_id"]) == (str(user.pk), client.client_id)
        assert claims["azp"] == client.client_id
        assert claims["scope"] == "openid email"
        assert claims["exp"] - claims["iat"] == 3600
        assert abs(claims["iat"] - time.time()) < 5

    def test_decision_O1_carries_its_family_when_it_has_one(self, acme, client):
        claims = claims_of(client.tokens_for(acme.user())["access_token"])

        assert "family_id" in claims
        assert not {"sid", "token_type", "organization_id"} & set(claims)

    def test_joserfc_accepts_it_for_its_audience_and_for_no_other(self, acme, token):
        published = jwk.KeySet.import_key_set(key_set(acme))
        claims = joserfc_jwt.decode(token, published, algorithms=["ES256"]).claims

        for audience, right in ((acme.issuer, True), ("https://api.example", False)):
            registry = joserfc_jwt.JWTClaimsRegistry(
                iss={"essential": True, "value": acme.issuer},
                aud={"essential": True, "value": audience},
                exp={"essential": True},
            )
            assert is_valid(registry, claims) is right

    def test_says_nothing_personal(self, acme, client):
        user = acme.user(name="Ada Lovelace", email="ada@acme.example", phone="+442079460018")

        text = json.dumps(claims_of(client.tokens_for(user)["access_token"]))

        for secret in (user.username, user.name, user.email, user.phone):
            assert secret not in text

    def test_case_F21_has_an_id_of_its_own(self, acme, client):
        user, browser = acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        issued = [tokens["access_token"]]
        issued += [client.refresh(tokens["refresh_token"]).json()["access_token"] for _ in range(10)]
        issued += [client.tokens_for(user, browser)["access_token"] for _ in range(10)]

        ids = {claims_of(token)["jti"] for token in issued}

        assert len(ids) == 21
        assert all(UUID.fullmatch(token_id) for token_id in ids)
        assert all(claims_of(token)["iat"] <= time.time() for token in issued)


def is_valid(registry, claims) -> bool:
    try:
        registry.validate(claims)
    except Exception:  # noqa: BLE001 - whatever the library says no with
        return False
    return True


class TestIdToken:
    def test_says_what_openid_connect_core_asks(self, acme, client):
        user = acme.user(name="Ada", email="ada@acme.example", phone="+442079460018")

        tokens = client.tokens_for(user, nonce='n-0S6 "é&=+/?')

        claims = verified(tokens["id_token"], key_set(acme))
        assert header_of(tokens["id_token"]) == {
            "alg": "ES256",
            "typ": "JWT",
            "kid": key_set(acme)["keys"][0]["kid"],
        }
        assert set(claims) == {
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "amr", "sid", "at_hash", "nonce"),
            *("name", "username", "preferred_username", "email", "email_verified"),
        }
        assert (claims["iss"], claims["aud"], claims["sub"]) == (acme.issuer, client.client_id, str(user.pk))
        assert claims["exp"] - claims["iat"] == 3600
        assert claims["nonce"] == 'n-0S6 "é&=+/?'
        assert claims["amr"] == ["pwd"]
        assert 0 <= claims["iat"] - claims["auth_time"] < 10

    def test_at_hash_is_the_left_half_of_the_hash_of_its_access_token(self, acme, client):
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()

        for tokens in (first, second):
            digest = hashlib.sha256(tokens["access_token"].encode("ascii")).digest()
            expected = base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
            assert claims_of(tokens["id_token"])["at_hash"] == expected

    def test_has_no_nonce_that_nobody_sent(self, acme, client):
        tokens = client.tokens_for(acme.user(), nonce=None)

        assert "nonce" not in claims_of(tokens["id_token"])

    def test_auth_time_is_that_of_the_sign_in_however_old(self, acme, client):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        with acme.active():
            Session.objects.filter(user=user).update(auth_time=F("auth_time") - timedelta(hours=3))

        claims = claims_of(client.tokens_for(user, browser)["id_token"])

        assert 3 * 3600 <= claims["iat"] - claims["auth_time"] < 3 * 3600 + 60

    def test_names_the_same_session_for_two_applications_of_one_browser(self, acme, client):
        user, browser = acme.user(), acme.browser()
        other = acme.application(name="Other")

        mine = claims_of(client.tokens_for(user, browser)["id_token"])
        theirs = claims_of(other.tokens_for(user, browser)["id_token"])
        elsewhere = claims_of(client.tokens_for(user)["id_token"])

        assert mine["sid"] == theirs["sid"] != elsewhere["sid"]
        assert mine["sub"] == theirs["sub"] == elsewhere["sub"]
        assert mine["aud"] != theirs["aud"]

    @pytest.mark.parametrize(
        ("scope", "released"),
        [
            ("openid", set()),
            ("openid profile", {"name", "username", "preferred_username", "picture"}),
            ("openid email", {"email", "email_verified"}),
            ("openid phone", set()),
            ("openid urn:service:scope:organizations", set()),
        ],
    )
    def test_releases_what_its_scopes_release_and_no_more(self, acme, client, scope, released):
        user = acme.user(
            name="Ada", email="ada@acme.example", phone="+442079460018", avatar="https://acme.example/a.png"
        )
        bare = {"iss", "sub", "aud", "exp", "iat", "auth_time", "amr", "sid", "at_hash", "nonce"}

        claims = claims_of(client.tokens_for(user, scope=scope)["id_token"])

        assert set(claims) - bare == released

    def test_decision_O9_leaves_out_what_is_not_set(self, acme, client):
        claims = claims_of(client.tokens_for(acme.user("bare"))["id_token"])

        assert not {"name", "picture", "email", "email_verified"} & set(claims)
        assert None not in claims.values()
        assert "" not in claims.values()

    def test_case_F23_nothing_a_user_or_client_is_called_overrides_a_claim(self, acme):
        client, user = acme.application(name='", "iss": "evil'), acme.user(name='x", "sub": "evil')
        reserved = ("iss", "sub", "aud", "scope", "exp", "organization_id", "token_type", "client_id")
        with acme.active():
            User.objects.filter(pk=user.pk).update(custom_data=dict.fromkeys(reserved, "evil"))

        tokens = client.tokens_for(user)

        for text in (tokens["access_token"], tokens["id_token"]):
            claims = verified(text, key_set(acme))
            assert "evil" not in {str(value) for name, value in claims.items() if name != "name"}
            assert claims["iss"] == acme.issuer
            assert "organization_id" not in claims

    def test_case_F21_a_subject_is_never_used_again(self, acme, client):
        before = acme.user("phoenix")
        old = claims_of(client.tokens_for(before)["id_token"])["sub"]
        with acme.active():
            users.remove(before)

        new = claims_of(client.tokens_for(acme.user("phoenix"))["id_token"])["sub"]

        assert old != new

    def test_decision_O1_neither_kind_is_taken_for_the_other(self, acme, client):
        tokens = client.tokens_for(acme.user())

        assert is_refused(acme, tokens["id_token"])
        hinted = acme.browser().get(
            "/oidc/end-session",
            params={
                "id_token_hint": tokens["access_token"],
                "post_logout_redirect_uri": "https://rp.example/",
            },
        )
        assert "Location" not in hinted.headers

    def test_case_F09_an_access_token_with_the_type_of_an_id_token_is_refused(self, acme, client, token):
        claims = claims_of(token)

        for typ in ("JWT", "jwt", "", "at+JWT", "admin+jwt", "at+jwt "):
            assert is_refused(acme, signed_by(acme, claims, typ=typ))
        assert not is_refused(acme, signed_by(acme, claims))


class TestTimes:
    def answer(self, acme, client, token, **times):
        claims = {name: value for name, value in (claims_of(token) | times).items() if value != "left out"}
        return client.userinfo(signed_by(acme, claims)).status_code

    def test_case_F16_ends_at_the_second_it_expires(self, acme, client, token):
        now = int(time.time())

        assert self.answer(acme, client, token, exp=now - 1) == 401
        assert self.answer(acme, client, token, exp=now) == 401
        assert self.answer(acme, client, token, exp=now + 60) == 200

    @pytest.mark.parametrize("name", ["iat", "nbf"])
    def test_case_F16_does_not_begin_before_its_time(self, acme, client, token, name):
        now = int(time.time())

        assert self.answer(acme, client, token, **{name: now + 30}) == 401
        assert self.answer(acme, client, token, **{name: now + 3600}) == 401
        assert self.answer(acme, client, token, **{name: now}) == 200

    @pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
    @pytest.mark.parametrize(
        "value",
        [
            *("2099-01-01", str(2**32), 4_102_444_800.0, 4_102_444_800.5, -1, 10**18, -(10**18)),
            *(2**63 - 1, None, True, [], {}, "left out"),
        ],
        ids=repr,
    )
    def test_case_F17_are_whole_seconds_of_this_era(self, acme, client, token, name, value):
        status = self.answer(acme, client, token, **{name: value})

        assert status == (200 if (name, value) == ("nbf", "left out") else 401)

    @pytest.mark.parametrize("name", ["iss", "sub", "client_id", "family_id"])
    @pytest.mark.parametrize("value", ["left out", None, "", 1, [], {"a": 1}, "x\0", "é", "x" * 3_000])
    def test_no_other_claim_may_be_something_else(self, acme, client, token, name, value):
        assert self.answer(acme, client, token, **{name: value}) == 401

    def test_case_F11_a_token_of_a_machine_is_nobody_even_if_it_names_a_user(self, acme, client, token):
        assert self.answer(acme, client, token, token_type="m2m") == 401

    @pytest.mark.parametrize("name", ["scope", "jti", "aud"])
    @pytest.mark.parametrize("value", ["left out", None, 1, [1], {"a": 1}, "x\0"])
    def test_no_claim_may_have_another_shape(self, acme, client, token, name, value):
        assert self.answer(acme, client, token, **{name: value}) == 401

    @pytest.mark.parametrize("name", ["iss", "sub", "aud", "client_id", "jti", "scope", "exp", "iat", "nbf"])
    @pytest.mark.parametrize("value", ["left out", None, 1.5, 10**18, [1], {"a": 1}, "x\0"], ids=named)
    def test_nor_where_machines_come_in(self, acme, name, value):
        token = acme.application("MachineToMachine").token(grant_type="client_credentials")
        claims = claims_of(token.json()["access_token"]) | {name: value}
        strange = signed_by(acme, {key: said for key, said in claims.items() if said != "left out"})

        answer = acme.get("/api/v1/users", headers=bearer(strange))

        left_out = (name, value) == ("nbf", "left out")
        assert answer.status_code == (403 if left_out else 401)

    @pytest.mark.parametrize("name", ["exp", "iat", "jti", "sub", "client_id", "scope"])
    @pytest.mark.parametrize("value", ["left out", None, 1.5, 10**18, "x\0", []], ids=named)
    def test_nor_where_tokens_are_taken_back(self, acme, client, token, name, value):
        claims = {key: said for key, said in (claims_of(token) | {name: value}).items() if said != "left out"}

        answer = acme.post("/oidc/revoke", data={"token": signed_by(acme, claims)}, auth=client.basic)

        assert answer.status_code == 200

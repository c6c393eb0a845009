"""The exchange of an authorization code for tokens."""

import hashlib
import string
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationCode, RefreshFamily
from tests.support.cast import CALLBACK, PASSWORD, new_secret, s256
from tests.support.forgery import decode
from tests.support.independent import claims_of
from tests.support.threads import THOROUGH

OTHER_CALLBACK = "https://rp.example/other"


def refusal(answer) -> tuple[int, str]:
    """Return status and error word of an answer that must hold no token."""
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    return answer.status_code, body["error"]


def codes_of(client):
    return AuthorizationCode.objects.filter(application=client.application)


class TestRedeem:
    def test_answers_with_the_members_of_the_interface(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        answer = client.redeem(code)

        tokens = answer.json()
        assert answer.status_code == 200
        assert set(tokens) == {
            *("access_token", "token_type", "expires_in", "scope", "id_token", "refresh_token")
        }
        assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
        assert tokens["scope"] == "openid profile email phone offline_access"

    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_decision_O7_case_D01_gives_no_refresh_token_without_offline_access(self, acme, type):  # noqa: A002
        client = acme.application(type)

        tokens = client.tokens_for(acme.user(), scope="openid profile")

        assert set(tokens) == {"access_token", "token_type", "expires_in", "scope", "id_token"}
        with acme.active():
            assert not RefreshFamily.objects.filter(application=client.application).exists()

    def test_decision_O7_gives_a_refresh_token_with_nothing_but_openid_and_offline_access(self, acme):
        tokens = acme.application().tokens_for(acme.user(), scope="openid offline_access")

        assert tokens["refresh_token"]
        assert tokens["scope"] == "openid offline_access"

    def test_decision_O7_grants_no_offline_access_to_an_application_that_may_not_refresh(self, acme):
        client = acme.application(grant_types=["authorization_code"])

        tokens = client.tokens_for(acme.user(), scope="openid offline_access")

        assert "refresh_token" not in tokens
        assert tokens["scope"] == "openid"

    def test_an_application_that_may_not_refresh_need_not_ask_for_it(self, acme):
        client = acme.application(grant_types=["authorization_code"])

        assert client.tokens_for(acme.user(), scope="openid")["scope"] == "openid"

    def test_decision_O7_issues_no_family_when_the_grant_was_taken_away_before_the_exchange(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(grant_types=["authorization_code"])

        tokens = client.redeem(code).json()

        assert "refresh_token" not in tokens
        assert client.userinfo(tokens["access_token"]).status_code == 200

    def test_decision_O3_drops_unknown_scopes_and_says_what_was_granted(self, acme):
        asked = "openid  made:up profile openid \u00e9t\u00e9 admin"

        tokens = acme.application().tokens_for(acme.user(), scope=asked)

        assert tokens["scope"] == "openid profile"
        assert claims_of(tokens["access_token"])["scope"] == "openid profile"

    def test_ignores_a_scope_that_comes_with_the_exchange(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), scope="openid")

        tokens = client.redeem(code, scope="openid profile email offline_access").json()

        assert tokens["scope"] == "openid"
        assert "refresh_token" not in tokens

    def test_leaves_one_audit_entry_that_tells_no_secret(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)

        tokens = client.redeem(code).json()

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange")
        assert entry.payload["result"] == "success"
        assert entry.payload["grant_type"] == "authorization_code"
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        for secret in (code, client.secret, client.verifier, *tokens.values()):
            assert str(secret) not in str(entry.payload) or secret in {"Bearer", 3600, tokens["scope"]}

    def test_leaves_an_audit_entry_of_a_refusal(self, acme):
        client = acme.application()

        client.redeem("made-up")

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange")
        assert entry.payload["result"] == "failed"
        assert entry.payload["error"] == "invalid_grant"
        assert entry.application_id == str(client.application.pk)
        assert "made-up" not in str(entry.payload)

    def test_works_for_the_loopback_port_that_a_native_application_chose(self, acme):
        client = acme.application("Native", redirect_uris=["http://127.0.0.1/cb"])
        chosen = "http://127.0.0.1:51234/cb"
        code = acme.browser().code_for(client, acme.user(), redirect_uri=chosen)

        elsewhere = client.redeem(code, redirect_uri="http://127.0.0.1:51235/cb", auth=None)
        there = client.token(
            auth=None,
            client_id=client.client_id,
            grant_type="authorization_code",
            code=code,
            redirect_uri=chosen,
            code_verifier=client.verifier,
        )

        assert elsewhere.status_code in {400, 401}
        assert there.status_code == 200


class TestUsedCode:
    def test_case_B01_a_second_use_ends_the_family(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        first = client.redeem(code).json()

        again = client.redeem(code)

        assert refusal(again) == (400, "invalid_grant")
        assert client.userinfo(first["access_token"]).status_code == 401
        assert refusal(client.refresh(first["refresh_token"])) == (400, "invalid_grant")

    def test_case_B01_a_second_use_ends_what_was_refreshed_meanwhile(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        refreshed = client.refresh(client.redeem(code).json()["refresh_token"]).json()

        client.redeem(code)

        assert client.userinfo(refreshed["access_token"]).status_code == 401
        assert refusal(client.refresh(refreshed["refresh_token"])) == (400, "invalid_grant")

    def test_case_B01_a_second_use_ends_an_access_token_that_has_no_family(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        code = browser.code_for(client, user, scope="openid")
        first = client.redeem(code).json()
        other = client.tokens_for(user, browser, scope="openid")

        again = client.redeem(code)

        assert refusal(again) == (400, "invalid_grant")
        assert client.userinfo(first["access_token"]).status_code == 401
        assert client.userinfo(other["access_token"]).status_code == 200, "the session itself goes on"

    @pytest.mark.parametrize(
        "change", [{"code_verifier": "x" * 43}, {"redirect_uri": "https://rp.example/wrong"}]
    )
    def test_decision_O7_a_second_use_with_something_else_wrong_ends_nothing(self, acme, change):
        """OAuth 2.1 section 7.5.3: who saw the code alone could end what it bought."""
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        first = client.redeem(code).json()

        answer = client.redeem(code, **change)

        assert refusal(answer) == (400, "invalid_grant")
        assert client.userinfo(first["access_token"]).status_code == 200
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_decision_O7_a_second_use_counts_after_the_code_would_have_expired(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        first = client.redeem(code).json()
        with acme.active():
            codes_of(client).update(expires_at=Now() - timedelta(minutes=50))

        client.redeem(code)

        assert client.userinfo(first["access_token"]).status_code == 401

    def test_decision_O7_a_second_use_is_audited_once_with_its_reason(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        client.redeem(code)

        client.redeem(code)
        client.redeem(code)

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Revoke")
        assert entry.payload["reason"] == "code_reused"
        assert entry.user_id == str(user.pk)

    def test_case_B02_another_client_ends_nothing_with_a_used_code(self, acme):
        client, thief = acme.application(), acme.application(name="Thief")
        code = acme.browser().code_for(client, acme.user())
        first = client.redeem(code).json()

        answer = thief.redeem(code, code_verifier=client.verifier)

        assert refusal(answer) == (400, "invalid_grant")
        assert client.userinfo(first["access_token"]).status_code == 200
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_case_B02_nobody_ends_anything_without_the_secret_of_the_client(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        first = client.redeem(code).json()

        answer = client.redeem(code, auth=(client.client_id, "wrong"))

        assert refusal(answer) == (401, "invalid_client")
        assert client.userinfo(first["access_token"]).status_code == 200


class TestStolenCode:
    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_case_B03_another_client_cannot_redeem_and_does_not_burn_it(self, acme, type):  # noqa: A002
        client, thief = acme.application(), acme.application(type, name="Thief")
        code = acme.browser().code_for(client, acme.user())

        stolen = thief.redeem(code, code_verifier=client.verifier)

        assert refusal(stolen) == (400, "invalid_grant")
        assert client.redeem(code).status_code == 200

    def test_case_B17_another_tenant_cannot_redeem_even_with_the_same_client_id_and_secret(self, acme, rival):
        client, twin = acme.application(), rival.application()
        code = acme.browser().code_for(client, acme.user())
        with rival.active():
            Application.objects.filter(pk=twin.application.pk).update(
                client_id=client.client_id, secret_digest=client.application.secret_digest
            )

        elsewhere = rival.post(
            "/oidc/token",
            auth=client.basic,
            data={
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": CALLBACK,
                "code_verifier": client.verifier,
            },
        )

        assert refusal(elsewhere) == (400, "invalid_grant")
        assert client.redeem(code).status_code == 200

    def test_case_B16_the_database_holds_only_a_hash_of_it(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        with acme.active():
            [stored] = codes_of(client).values()

        assert code not in str(stored)
        assert refusal(client.redeem(stored["code_hash"])) == (400, "invalid_grant")
        assert stored["code_hash"] == hashlib.sha256(code.encode()).hexdigest()

    def test_case_B15_codes_are_long_random_and_never_the_same(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()

        number = 10_000 if THOROUGH else 100

        codes = [browser.code_for(client, user) for _ in range(number)]

        raw = [decode(code) for code in codes]
        assert {len(value) for value in raw} == {32}
        assert len({value[:8] for value in raw}) == len({value[-8:] for value in raw}) == number
        ones = sum(value.bit_count() for value in map(int.from_bytes, raw))
        # 256 fair coins each: ten standard deviations around the half.
        assert abs(ones - 128 * number) < 80 * number**0.5


class TestStaleCode:
    def test_case_B04_is_refused_a_minute_after_it_was_issued(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            issued = codes_of(client).get()
            codes_of(client).update(expires_at=Now())

        answer = client.redeem(code)

        assert refusal(answer) == (400, "invalid_grant")
        assert issued.expires_at - issued.created_at <= timedelta(seconds=60.5)

    def test_case_B13_is_refused_once_the_user_is_suspended_also_when_let_in_again(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        with acme.active():
            users.suspend(user)
            suspended = client.redeem(code)
            users.suspend(user, suspended=False)

        let_in = client.redeem(code)

        assert refusal(suspended) == refusal(let_in) == (400, "invalid_grant")

    def test_case_B13_is_refused_for_a_suspended_user_though_the_session_is_live(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        with acme.active():
            User.objects.filter(pk=user.pk).update(is_suspended=True)  # as in a sign-in at the same time
            assert Session.objects.get(user=user).ended_at is None

        answer = client.redeem(code)

        assert refusal(answer) == (400, "invalid_grant")

    def test_case_B13_is_refused_once_the_user_is_deleted(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        with acme.active():
            users.remove(user)

        answer = client.redeem(code)

        assert refusal(answer) == (400, "invalid_grant")

    def test_case_B13_is_refused_once_the_password_was_changed(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        with acme.active():
            credentials.set_password(user, f"{PASSWORD} new")

        answer = client.redeem(code)

        assert refusal(answer) == (400, "invalid_grant")

    def test_is_refused_once_its_session_ended(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        id_token = client.tokens_for(user, browser)["id_token"]
        code = browser.code_for(client, user)
        browser.get("/oidc/end-session", params={"id_token_hint": id_token})

        answer = client.redeem(code)

        assert refusal(answer) == (400, "invalid_grant")
        with acme.active():
            assert Session.objects.get(user=user).ended_at is not None

    def test_case_B14_is_refused_once_the_application_is_deleted(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            applications.remove(client.application)

        answer = client.redeem(code)

        assert refusal(answer) == (401, "invalid_client")

    def test_case_B14_is_refused_once_its_redirect_uri_is_no_longer_registered(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            applications.change(client.application, {"redirect_uris": [OTHER_CALLBACK]})

        answer = client.redeem(code, redirect_uri=CALLBACK)

        assert refusal(answer) == (400, "invalid_grant")

    def test_is_refused_once_the_application_lost_the_grant(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(grant_types=[])

        answer = client.redeem(code)

        assert refusal(answer) == (400, "unauthorized_client")


class TestRedirectUri:
    @pytest.mark.parametrize(
        "sent",
        [
            OTHER_CALLBACK,
            "https://rp.example/call%62ack",
            "https://rp.example/callback/",
            "https://rp.example/callback?",
            "https://rp.example:443/callback",
            "https://RP.example/callback",
            "http://rp.example/callback",
            " https://rp.example/callback",
            "https://evil.example/callback",
            "not a uri",
            "https://[",
        ],
    )
    def test_case_B05_must_be_that_of_the_request_to_the_letter(self, acme, sent):
        client = acme.application(redirect_uris=[CALLBACK, OTHER_CALLBACK])
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(code, redirect_uri=sent)

        assert refusal(refused) == (400, "invalid_grant")
        assert client.redeem(code).status_code == 200, "a refused request consumes nothing"

    @pytest.mark.parametrize("sent", [None, ""])
    def test_case_B05_must_be_sent(self, acme, sent):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(code, redirect_uri=sent)

        assert refusal(refused) == (400, "invalid_request")
        assert client.redeem(code).status_code == 200


class TestCode:
    @pytest.mark.parametrize("sent", [None, ""])
    def test_must_be_sent(self, acme, sent):
        client = acme.application()

        answer = client.token(grant_type="authorization_code", redirect_uri=CALLBACK, code=sent)

        assert refusal(answer) == (400, "invalid_request")

    @pytest.mark.parametrize("sent", ["x", "é" * 40, "' OR 1=1 --", "..", "%00", "\U0001f600", "a" * 16_000])
    def test_that_was_never_issued_is_refused(self, acme, sent):
        client = acme.application()

        answer = client.redeem(sent)

        assert refusal(answer) == (400, "invalid_grant")

    def test_stands_for_its_own_request_only(self, acme):
        client, ada, ben = acme.application(), acme.user(), acme.user()
        of_ada = acme.browser().code_for(client, ada)
        of_ben = acme.browser().code_for(client, ben, scope="openid")

        guessed = client.redeem(new_secret())
        tokens = [client.redeem(code).json() for code in (of_ben, of_ada)]

        assert refusal(guessed) == (400, "invalid_grant")
        assert [claims_of(each["id_token"])["sub"] for each in tokens] == [str(ben.pk), str(ada.pk)]
        assert tokens[0]["scope"] == "openid"

    def test_case_B11_is_not_taken_from_a_query_and_not_consumed(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "code_verifier": client.verifier,
        }

        got = acme.get("/oidc/token", params=form, auth=client.basic)
        posted = acme.post("/oidc/token", params=form, data={"x": "y"}, auth=client.basic)

        assert refusal(got) == (405, "invalid_request")
        assert got.headers["Allow"] == "POST, OPTIONS"
        assert refusal(posted) == (400, "invalid_request")
        assert client.redeem(code).status_code == 200


class TestVerifier:
    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(None, id="missing"),
            pytest.param("", id="empty"),
            pytest.param("x" * 43, id="wrong"),
            pytest.param("é" * 43, id="no ascii"),
            pytest.param("a" * 20_000, id="huge"),
        ],
    )
    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_case_B06_must_be_the_one_of_the_challenge(self, acme, type, sent):  # noqa: A002
        client = acme.application(type)
        code = acme.browser().code_for(client, acme.user())

        refused = client.redeem(code, code_verifier=sent)

        status, error = refusal(refused)
        assert status == 400
        assert error in {"invalid_grant", "invalid_request"}
        assert client.redeem(code).status_code == 200, "a refused request consumes nothing"

    @pytest.mark.parametrize(
        "verifier",
        ["a" * 42, "a" * 129, "a" * 42 + "!", "a" * 42 + "+", "a" * 43 + "\n", "ä" * 43, "a b" * 20],
    )
    def test_decision_O5_case_B06_must_be_well_formed_even_when_it_fits(self, acme, verifier):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=s256(verifier))

        answer = client.redeem(code, code_verifier=verifier)

        assert refusal(answer) == (400, "invalid_grant")

    @pytest.mark.parametrize("verifier", ["a" * 43, "a" * 128, string.ascii_letters + string.digits + "-._~"])
    def test_decision_O5_may_have_43_to_128_unreserved_characters(self, acme, verifier):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=s256(verifier))

        answer = client.redeem(code, code_verifier=verifier)

        assert answer.status_code == 200

    @pytest.mark.parametrize("sent", [new_secret(), "x", ""])
    def test_case_B07_that_nobody_announced_is_refused(self, acme, sent):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user(), code_challenge=None, code_challenge_method=None)

        refused = client.redeem(code, code_verifier=sent)

        assert refusal(refused) == (400, "invalid_grant")
        assert client.redeem(code, code_verifier=None).status_code == 200

    def test_the_challenge_itself_is_no_verifier(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())

        answer = client.redeem(code, code_verifier=s256(client.verifier))

        assert refusal(answer) == (400, "invalid_grant")

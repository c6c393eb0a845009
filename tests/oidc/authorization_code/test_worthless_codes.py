"""Authorization codes that were used, stolen or overtaken by a change."""

import hashlib
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import assigned_passwords
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationCode
from tests.support.cast import CALLBACK, PASSWORD
from tests.support.forgery import decode
from tests.support.refusals import refusal
from tests.support.threads import THOROUGH


def codes_of(client):
    return AuthorizationCode.objects.filter(application=client.application)


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
            users.reactivate(user)

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
            assigned_passwords.set_password(user, f"{PASSWORD} new", is_proven=True)

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
            applications.change(
                client.application, {"redirect_uris": ["https://rp.example/other"]}, is_proven=True
            )

        answer = client.redeem(code, redirect_uri=CALLBACK)

        assert refusal(answer) == (400, "invalid_grant")

    def test_is_refused_once_the_application_lost_the_grant(self, acme):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(grant_types=[])

        answer = client.redeem(code)

        assert refusal(answer) == (400, "unauthorized_client")

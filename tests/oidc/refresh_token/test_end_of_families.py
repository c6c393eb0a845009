"""What ends a family of refresh tokens: time, and changes of its user and its client."""

from datetime import timedelta

from django.db.models.functions import Now

from identity.users import assigned_passwords
from identity.users import services as users
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily
from tests.support.cast import PASSWORD
from tests.support.refresh_families import GONE, aged, family_of, is_dead
from tests.support.refusals import refusal


class TestLifetime:
    def test_case_D09_ends_14_days_after_the_last_use(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        lasts = family_of(client).idle_expires_at - family_of(client).created_at
        aged(client, idle_expires_at=timedelta(days=14))

        answer = client.refresh(first["refresh_token"])

        assert abs(lasts - timedelta(days=14)) < timedelta(seconds=5)
        assert refusal(answer) == GONE
        assert client.userinfo(first["access_token"]).status_code == 401

    def test_decision_O7_each_use_makes_it_last_14_days_again(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        aged(client, idle_expires_at=timedelta(days=13, hours=23))

        second = client.refresh(first["refresh_token"]).json()
        aged(client, idle_expires_at=timedelta(days=13, hours=23))

        assert client.refresh(second["refresh_token"]).status_code == 200

    def test_decision_O7_a_retry_in_the_grace_is_no_use(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        client.refresh(first["refresh_token"])
        before = family_of(client)

        client.refresh(first["refresh_token"])

        after = family_of(client)
        assert after.idle_expires_at == before.idle_expires_at
        assert (after.generation, after.rotated_at) == (before.generation, before.rotated_at)

    def test_case_D08_ends_180_days_after_it_began_however_often_it_is_used(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        lasts = family_of(client).expires_at - family_of(client).created_at
        second = client.refresh(first["refresh_token"]).json()
        aged(client, expires_at=timedelta(days=180))

        answer = client.refresh(second["refresh_token"])

        assert abs(lasts - timedelta(days=180)) < timedelta(seconds=5)
        assert refusal(answer) == GONE
        assert client.userinfo(second["access_token"]).status_code == 401

    def test_case_D08_a_use_does_not_move_its_last_day(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        before = family_of(client).expires_at

        client.refresh(first["refresh_token"])

        assert family_of(client).expires_at == before

    def test_the_grace_does_not_outlive_the_family(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        client.refresh(first["refresh_token"])
        aged(client, expires_at=timedelta(days=180))

        retry = client.refresh(first["refresh_token"])

        assert refusal(retry) == GONE

    def test_leaves_one_row_however_often_it_is_used(self, acme):
        client = acme.application()
        token = client.tokens_for(acme.user())["refresh_token"]

        for _ in range(5):
            token = client.refresh(token).json()["refresh_token"]

        assert family_of(client).generation == 5


class TestUser:
    def test_case_D10_suspended_ends_it_also_when_let_in_again(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        with acme.active():
            users.suspend(user)
            suspended = client.refresh(first["refresh_token"])
            users.reactivate(user)

        let_in = client.refresh(first["refresh_token"])

        assert refusal(suspended) == refusal(let_in) == GONE
        assert client.userinfo(first["access_token"]).status_code == 401
        assert client.refresh(client.tokens_for(user)["refresh_token"]).status_code == 200

    def test_case_D10_suspended_ends_the_grace_too(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        second = client.refresh(first["refresh_token"]).json()
        with acme.active():
            users.suspend(user)

        assert is_dead(client, first, second)

    def test_case_D10_deleted_ends_it(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        with acme.active():
            users.remove(user)

        assert is_dead(client, first)

    def test_case_D10_with_another_password_ends_it(self, acme):
        client, user = acme.application(), acme.user()
        first = client.tokens_for(user)
        with acme.active():
            assigned_passwords.set_password(user, f"{PASSWORD} new", is_proven=True)

        assert is_dead(client, first)

    def test_case_D18_signed_out_keeps_what_was_granted_for_offline_access(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        first = client.tokens_for(user, browser)
        signed_out = browser.get("/oidc/end-session", params={"id_token_hint": first["id_token"]})

        answer = client.refresh(first["refresh_token"])

        assert "session" in signed_out.headers["Set-Cookie"]
        assert answer.status_code == 200
        assert client.userinfo(answer.json()["access_token"]).status_code == 200


class TestClient:
    def test_case_D06_another_one_cannot_use_it_and_ends_nothing(self, acme):
        client, thief = acme.application(), acme.application(name="Thief")
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()
        aged(client, rotated_at=timedelta(seconds=11))

        stolen = [thief.refresh(tokens["refresh_token"]) for tokens in (first, second)]

        assert [refusal(answer) for answer in stolen] == [GONE, GONE]
        assert client.refresh(second["refresh_token"]).status_code == 200

    def test_case_D07_a_public_one_must_say_who_it_is(self, acme):
        client, other = acme.application("SPA"), acme.application("SPA", name="Other")
        first = client.tokens_for(acme.user())

        nobody = client.refresh(first["refresh_token"], auth=None)
        another = client.refresh(first["refresh_token"], auth=None, client_id=other.client_id)

        assert refusal(nobody) == (401, "invalid_client")
        assert refusal(another) == GONE
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_of_another_tenant_cannot_use_it(self, acme, rival):
        client, twin = acme.application(), rival.application()
        first = client.tokens_for(acme.user())
        with rival.active():
            Application.objects.filter(pk=twin.application.pk).update(
                client_id=client.client_id, secret_digest=client.application.secret_digest
            )

        elsewhere = rival.post(
            "/oidc/token",
            data={"grant_type": "refresh_token", "refresh_token": first["refresh_token"]},
            auth=client.basic,
        )

        assert refusal(elsewhere) == GONE
        assert client.refresh(first["refresh_token"]).status_code == 200

    def test_case_D14_that_is_deleted_is_unknown(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        with acme.active():
            applications.remove(client.application)

        answer = client.refresh(first["refresh_token"])

        assert refusal(answer) == (401, "invalid_client")
        assert client.userinfo(first["access_token"]).status_code == 401

    def test_case_D14_that_lost_the_grant_is_not_authorized(self, acme):
        client = acme.application()
        first = client.tokens_for(acme.user())
        with acme.active():
            Application.objects.filter(pk=client.application.pk).update(grant_types=["authorization_code"])

        answer = client.refresh(first["refresh_token"])

        assert refusal(answer) == (400, "unauthorized_client")


def test_a_token_that_expired_is_refused_by_the_clock_of_the_database(acme):
    client = acme.application()
    first = client.tokens_for(acme.user())
    with acme.active():
        RefreshFamily.objects.update(idle_expires_at=Now())

    assert refusal(client.refresh(first["refresh_token"])) == GONE

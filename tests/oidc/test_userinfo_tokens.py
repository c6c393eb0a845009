"""Which access tokens userinfo accepts, and until when."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now

from identity.sessions.models import Session
from identity.users import assigned_passwords
from identity.users import services as users
from oidc.applications import services as applications
from oidc.grants.models import RefreshFamily
from tests.support.cast import PASSWORD, default_world
from tests.support.independent import bearer, claims_of
from tests.support.userinfo import INVALID_TOKEN, new_person, read_challenge


@pytest.fixture
def person(acme):
    return new_person(acme)


class TestLife:
    """Decision O14: what an access token stands on is looked at each time."""

    @pytest.fixture(params=["openid", "openid offline_access"])
    def scope(self, request):
        """Without a family the session stands behind a token, with one the family."""
        return request.param

    def test_case_E14_ends_when_the_user_is_suspended_for_good(self, acme, person, scope):
        client = acme.application()
        token = client.tokens_for(person, scope=scope)["access_token"]
        with acme.active():
            users.suspend(person)
            suspended = client.userinfo(token)
            users.reactivate(person)

        let_in = client.userinfo(token)

        assert read_challenge(suspended) == read_challenge(let_in) == INVALID_TOKEN

    def test_case_E14_ends_when_the_user_is_deleted(self, acme, person, scope):
        client = acme.application()
        token = client.tokens_for(person, scope=scope)["access_token"]
        with acme.active():
            users.remove(person)

        assert read_challenge(client.userinfo(token)) == INVALID_TOKEN

    def test_case_E15_ends_when_the_password_is_changed(self, acme, person, scope):
        client = acme.application()
        token = client.tokens_for(person, scope=scope)["access_token"]
        with acme.active():
            assigned_passwords.set_password(person, f"{PASSWORD} new", is_proven=True)

        assert read_challenge(client.userinfo(token)) == INVALID_TOKEN

    def test_decision_O14_ends_with_the_application(self, acme, person, scope):
        client = acme.application()
        token = client.tokens_for(person, scope=scope)["access_token"]
        with acme.active():
            applications.remove(client.application)

        assert [read_challenge(client.userinfo(token)) for _ in range(4)] == [INVALID_TOKEN] * 4

    def test_decision_O11_ends_with_the_session_unless_a_family_stands_behind_it(self, acme, person, scope):
        client, browser = acme.application(), acme.browser()
        tokens = client.tokens_for(person, browser, scope=scope)

        browser.get("/oidc/end-session", params={"id_token_hint": tokens["id_token"]})

        answer = client.userinfo(tokens["access_token"])
        assert answer.status_code == (200 if "offline_access" in scope else 401)

    def test_decision_O11_another_session_of_the_same_user_stays(self, acme, person):
        client, browser = acme.application(), acme.browser()
        mine = client.tokens_for(person, browser, scope="openid")
        other = client.tokens_for(person, scope="openid")

        browser.get("/oidc/end-session", params={"id_token_hint": mine["id_token"]})

        assert client.userinfo(mine["access_token"]).status_code == 401
        assert client.userinfo(other["access_token"]).status_code == 200

    @pytest.mark.parametrize(
        ("field", "by"),
        [("last_used_at", timedelta(hours=24)), ("expires_at", timedelta(days=14))],
    )
    def test_decision_O13_ends_when_the_session_behind_it_does(self, acme, person, field, by):
        client = acme.application()
        token = client.tokens_for(person, scope="openid")["access_token"]
        with acme.active():
            Session.objects.filter(user=person).update(**{field: F(field) - by})

        assert read_challenge(client.userinfo(token)) == INVALID_TOKEN

    @pytest.mark.parametrize("field", ["idle_expires_at", "expires_at"])
    def test_ends_when_the_family_behind_it_does(self, acme, person, field):
        client = acme.application()
        token = client.tokens_for(person)["access_token"]
        with acme.active():
            RefreshFamily.objects.filter(user=person).update(**{field: Now()})

        assert read_challenge(client.userinfo(token)) == INVALID_TOKEN


class TestOtherTokens:
    def test_case_F09_an_id_token_is_no_access_token(self, acme, person):
        client = acme.application()

        answer = client.userinfo(client.tokens_for(person)["id_token"])

        assert read_challenge(answer) == INVALID_TOKEN

    def test_a_refresh_token_is_no_access_token(self, acme, person):
        client = acme.application()

        answer = client.userinfo(client.tokens_for(person)["refresh_token"])

        assert read_challenge(answer) == INVALID_TOKEN

    def test_a_code_is_no_access_token(self, acme, person):
        client = acme.application()

        answer = client.userinfo(acme.browser().code_for(client, person))

        assert read_challenge(answer) == INVALID_TOKEN

    def test_case_F10_an_administrator_is_no_end_user(self, acme):
        root = default_world()
        signed_in = root.post(
            "/api/admin/sign-in", json={"username": "admin", "password": "correct horse battery staple"}
        )
        token = signed_in.json()["result"]["access_token"]

        answers = [world.get("/oidc/userinfo", headers=bearer(token)) for world in (root, acme)]

        assert [read_challenge(answer) for answer in answers] == [INVALID_TOKEN] * 2

    def test_case_F11_a_machine_is_no_end_user(self, acme):
        machine = acme.application("MachineToMachine")
        token = machine.token(grant_type="client_credentials", scope="openid").json()["access_token"]

        assert read_challenge(machine.userinfo(token)) == INVALID_TOKEN

    def test_decision_T2_another_tenant_is_nobody(self, acme, rival, person):
        client = acme.application()
        token = client.tokens_for(person)["access_token"]

        answers = [world.get("/oidc/userinfo", headers=bearer(token)) for world in (rival, default_world())]

        assert [read_challenge(answer) for answer in answers] == [INVALID_TOKEN] * 2
        assert claims_of(token)["iss"] == acme.issuer

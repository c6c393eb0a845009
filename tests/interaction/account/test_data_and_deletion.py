"""Taking one's own data along, and deleting one's own account."""

import json
import re

import pytest

from identity.organizations import services as organizations
from identity.organizations.models import Organization
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from oidc.grants.models import RefreshFamily
from tests.support.account import allow, entries, is_signed_in, send, stored
from tests.support.cast import PASSWORD, signed_in
from tests.support.forms import form
from tests.support.pages import title


class TestData:
    def test_hands_out_all_that_is_kept_and_no_secret(self, acme):
        browser, client = acme.browser(), acme.application(name="Payroll")
        user = acme.user(username="alice", name="Älice", email="a@example.com", custom_data={"shoe": 42})
        client.tokens_for(user, browser)
        with acme.active():
            organization = Organization.objects.create(name="Sales")
            organizations.add_members(organization.pk, [str(user.pk)])
        neighbour, _ = signed_in(acme, username="neighbour")

        answer = send(browser, "data", password=PASSWORD)
        data = answer.json()

        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="account.json"'
        assert answer.headers["Cache-Control"] == "no-store"
        assert set(data) == {
            *("profile", "sessions", "linked_accounts", "applications", "organizations", "roles", "activity"),
        }
        assert data["profile"]["username"] == "alice"
        assert data["profile"]["name"] == "Älice"
        assert data["profile"]["custom_data"] == {"shoe": 42}
        assert data["profile"]["has_password"] is True
        assert [session["ip"] for session in data["sessions"]] == ["127.0.0.1"]
        assert [application["name"] for application in data["applications"]] == ["Payroll"]
        assert [row["name"] for row in data["organizations"]] == ["Sales"]
        assert {"SignIn.Password", "Token.Exchange", "User.Export"} <= {e["key"] for e in data["activity"]}
        with acme.active():
            row, session = User.objects.get(pk=user.pk), Session.objects.get(user=user)
        for secret in (row.password, session.token_hash, "argon2", "neighbour"):
            assert secret not in json.dumps(data)
        assert entries(acme, "User.Export")[0].user_id == str(user.pk)
        assert is_signed_in(neighbour)


class TestDeletion:
    def test_is_off_unless_the_tenant_allows_it(self, acme):
        browser, user = signed_in(acme)
        token = form(browser.get("/account/profile")).fields["csrfmiddlewaretoken"]
        sent = {"csrfmiddlewaretoken": token, "typed": user.username, "password": PASSWORD}

        answers = [browser.get("/account/delete"), browser.post("/account/delete", data=sent)]

        assert [answer.status_code for answer in answers] == [403, 403]
        assert all("t delete your account here" in answer.text for answer in answers)
        assert stored(acme, user).pk == user.pk

    def test_case_N09_takes_everything_but_the_audit_log(self, acme):
        allow(acme, deletion=True)
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        there = acme.browser()
        there.sign_in(user)
        neighbour, _ = signed_in(acme)

        answer = send(browser, "delete", typed=f" {user.username.upper()} ", password=PASSWORD)

        assert answer.status_code == 200
        assert title(answer) == "Your account is deleted"
        assert [is_signed_in(b) for b in (browser, there, neighbour)] == [False, False, True]
        assert client.userinfo(tokens["access_token"]).status_code == 401
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert acme.browser().sign_in(user).status_code == 401
        with acme.active():
            assert not User.objects.filter(pk=user.pk).exists()
            assert not RefreshFamily.objects.filter(user=user.pk).exists()
        entry = entries(acme, "User.Delete")[0]
        assert (entry.user_id, entry.payload["id"]) == (str(user.pk), str(user.pk))

    @pytest.mark.parametrize("typed", ["", "x", "delete", None])
    def test_asks_to_type_the_username(self, acme, typed):
        allow(acme, deletion=True)
        browser, user = signed_in(acme)

        answer = send(browser, "delete", typed=typed, password=PASSWORD)

        assert answer.status_code == 400
        assert re.search(r'name="typed"[^>]*aria-invalid="true"', answer.text)
        assert form(answer).fields["typed"] == (typed or "")
        assert stored(acme, user).pk == user.pk
        assert is_signed_in(browser)

    def test_of_somebody_who_is_gone_already_leads_to_the_sign_in_page(self, acme):
        allow(acme, deletion=True)
        browser, user = signed_in(acme)
        page = form(browser.get("/account/delete"))
        with acme.active():
            users.remove(stored(acme, user))

        answer = browser.post(
            "/account/delete", data=page.fields | {"typed": user.username, "password": PASSWORD}
        )

        assert answer.status_code == 303

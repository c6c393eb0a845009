"""Administrators: who looks like whom, what proves them, what a role may do (AP16, AP17, AP18, AP27, N18)."""

import json
import secrets
import time
from datetime import timedelta

import pytest
import time_machine
from django.conf import settings as configured
from django.contrib.sessions.models import Session as AdministratorSession
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from identity.core import tenancy
from identity.limits import rules
from identity.limits.rules import Lock
from interaction.connectors.models import Connector
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from management.administrators import proof, support_rights
from management.administrators import sign_in as administrator_sign_in
from management.administrators.models import Administrator
from management.doctor import administrators as doctor
from management.site import idle_sessions
from management.site.sessions import SessionStore
from tests.support import cast, management, operators
from tests.support.admin_pages import first_of, furnish
from tests.support.cast import PASSWORD
from tests.support.management import connection, refusal_of, result_of
from tests.support.management_routes import all_routes
from tests.support.operators import Operator, address_of, administrator, pages
from tests.support.surface import Estate
from tests.support.two_step_page import set_up

PATH = "/admin/password/"


@pytest.fixture
def root(address):
    return management.superuser(cast.default_world())


def sign_in(username, password=PASSWORD):
    body = {"username": username, "password": password}
    return connection().post(f"{configured.BASE_URL}/api/admin/sign-in", json=body)


class TestLookAlikes:
    @pytest.mark.parametrize("alike", [str.upper, str.title, lambda name: f"\uff52{name[1:]}"])
    def test_attack_AP16_no_administrator_is_called_like_another(self, root, alike):
        name = f"root-{secrets.token_hex(4)}"
        root.created("/administrators", username=name, password=PASSWORD)

        answer = root.post("/administrators", username=alike(name), password=PASSWORD)

        assert "username: already exists" in refusal_of(answer, 400)

    def test_attack_AP16_every_spelling_is_one_administrator_and_one_lock(self, address, monkeypatch):
        monkeypatch.setattr(rules, "ADMINISTRATOR", Lock("administrator", 3, 900))
        who, here = administrator(), Client()  # in this process, whose lock is ours

        def tried(username, password):
            body = {"username": username, "password": password}
            return here.post("/api/admin/sign-in", body, content_type="application/json")

        assert tried(who.username.upper(), PASSWORD).status_code == 200
        for username in (who.username, who.username.upper(), who.username.title()):
            tried(username, "wrong")

        locked = tried(who.username.swapcase(), PASSWORD)
        assert (locked.status_code, "Retry-After" in locked.headers) == (401, True)

    def test_attack_AP16_those_that_look_alike_already_stay_and_the_doctor_names_them(self, address):
        first = administrator()
        with tenancy.using(tenancy.DEFAULT):
            second = Administrator(username=first.username.upper(), role="auditor")
            second.set_password("another one's password")
            second.save()

        named = [str(found.msg) for found in doctor.usernames()]
        answers = [sign_in(second.username, "another one's password"), sign_in(first.username)]

        assert [second.username in text for text in named] == [True]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert administrator_sign_in.find(second.username.title()) == first
        assert Administrator.objects.get(pk=second.pk).username_key is None
        second.delete()

    def test_one_whom_an_older_release_made_gets_the_key_at_the_next_sign_in(self, address):
        who = administrator()
        Administrator.objects.filter(pk=who.pk).update(username_key=None)

        assert sign_in(who.username).status_code == 200

        assert Administrator.objects.get(pk=who.pk).username_key == who.username
        with pytest.raises(IntegrityError):
            Administrator.objects.create(username="else", username_key=who.username)


class TestConnectors:
    CONFIG = {
        "passphrase": "s-1", "pwd": "s-2", "credentials": {"pass": "s-3"}, "access_key": "s-4",
        "secret_access_key": "s-5", "signing_key": "s-6", "private-key-pem": "s-7", "Authorization": "s-8",
        "client_secrets": ["s-9"], "tokens": {"a": "s-10"}, "dsn": "postgres://u:s-11@h/d", "port": 25,
        "host": "mail.example",
    }  # fmt: skip

    def test_attack_AP17_no_text_of_a_connector_without_a_provider_is_shown(self, acme):
        admin = management.superuser(acme)
        made = admin.created("/connectors", connector_id="homemade", type="Email", config=self.CONFIG)

        shown = [made, result_of(admin.get(f"/connectors/{made['id']}")), result_of(admin.get("/connectors"))]
        page = operators.at(acme).get(f"/admin/connectors/connector/{made['id']}/change/").text

        assert [text for text in map(str, [*shown, page]) if "s-1" in text or "s-9" in text] == []
        assert made["config"]["port"] == 25
        assert made["config"]["client_secrets"] == ["***"]

    def test_attack_AP17_what_is_hidden_is_kept_and_goes_nowhere_else(self, acme):
        admin = management.superuser(acme)
        made = admin.created("/connectors", connector_id="homemade", type="Email", config=self.CONFIG)
        path = f"/connectors/{made['id']}"

        result_of(admin.patch(path, config={**made["config"], "pwd": "new"}))
        moved = admin.patch(path, config={**made["config"], "host": "evil.example"})

        assert "send the secret again" in refusal_of(moved, 400)
        with acme.active():
            assert Connector.objects.get(pk=made["id"]).config() == {**self.CONFIG, "pwd": "new"}


class TestProof:
    def test_attack_AP18_a_password_is_changed_with_both_steps(self, acme):
        operator = operators.at(acme)
        _, codes = set_up(operator)
        typed = {"current": PASSWORD, "password": "quite another one"}

        without = operator.submit(PATH, **typed)
        wrong = operator.submit(PATH, **typed, code="000000")
        right = operator.submit(PATH, **typed, code=codes[0])

        assert [answer.status_code for answer in (without, wrong, right)] == [400, 401, 303]

    def test_attack_AP18_an_old_token_sets_no_password(self, root, monkeypatch):
        monkeypatch.setattr(configured, "ADMIN_PROOF_SECONDS", 0)
        who = management.new_administrator()
        here = Client(headers={"Authorization": f"Bearer {root.token}"})  # in this process, with its settings

        def patch(**body):
            path = f"/api/v1/administrators/{who.pk}"
            return here.patch(path, body, content_type="application/json")

        nothing = patch(password="the thief's own words")
        wrong = patch(password="the thief's own words", current_password="a guess")
        right = patch(password="a new one indeed", current_password=configured.ADMIN_PASSWORD)
        other = patch(email="other@example.com")

        assert [answer.status_code for answer in (nothing, wrong, right, other)] == [403, 403, 200, 200]
        assert "current_password" in nothing.json()["message"]
        assert "current_password" in wrong.json()["message"]
        assert sign_in(who.username, "a new one indeed").status_code == 200

    def test_attack_AP18_the_token_of_a_recent_sign_in_does(self, root):
        who, by = management.new_administrator(), administrator()
        caller = management.Caller(root.world, result_of(sign_in(by.username))["access_token"])

        result_of(caller.patch(f"/administrators/{who.pk}", password="a new one indeed"))

    def test_attack_AP18_a_session_alone_sets_no_password_and_removes_no_second_step(self, acme):
        victim, operator = operators.at(acme), operators.at(acme)
        set_up(victim)
        path = f"/admin/administrators/administrator/{victim.who.pk}/do"

        answers = [
            operator.submit(f"{path}/second-step/", current_password="a guess"),
            operator.submit(f"{path}/second-step/"),
            operator.submit(f"{path}/password/", password="the thief's words", current_password="a guess"),
            operator.submit(f"{path}/password/", password="the thief's words"),
        ]
        unchanged = Administrator.objects.get(pk=victim.who.pk)
        done = operator.submit(f"{path}/second-step/", current_password=PASSWORD)

        assert [answer.status_code for answer in answers] == [403, 400, 403, 400]
        assert unchanged.second_step_since is not None
        assert unchanged.check_password(PASSWORD)
        assert done.status_code == 303

    def test_attack_AP18_an_old_token_makes_no_administrator_and_gives_nobody_more(
        self, root, monkeypatch, acme
    ):
        """Otherwise a thief would have an administrator whose password they know, and prove things by it."""
        monkeypatch.setattr(configured, "ADMIN_PROOF_SECONDS", 0)
        who = management.new_administrator()
        here = Client(headers={"Authorization": f"Bearer {root.token}"})  # in this process, with its settings
        path, name = f"/api/v1/administrators/{who.pk}", f"thief-{who.pk}"
        own = {"current_password": configured.ADMIN_PASSWORD}
        new = {"username": name, "password": PASSWORD, "is_superuser": True}
        standings = ({"is_superuser": True}, {"role": "auditor"}, {"tenants": [acme.tenant.slug]})

        def send(method, address, body):
            return here.generic(method, address, json.dumps(body), "application/json").status_code

        assert send("POST", "/api/v1/administrators", new) == 403
        assert not Administrator.objects.filter(username=name).exists()
        assert [send("PATCH", path, standing) for standing in standings] == [403] * 3
        assert send("PATCH", path, {"is_superuser": False, "role": "administrator", "tenants": []}) == 200
        assert send("POST", "/api/v1/administrators", new | own) == 200
        assert [send("PATCH", path, standing | own) for standing in standings] == [200] * 3

    def test_attack_AP27_an_old_token_deletes_no_administrator(self, root, monkeypatch):
        who = management.new_administrator()
        here = Client(headers={"Authorization": f"Bearer {root.token}"})  # in this process, with its settings
        path = f"/api/v1/administrators/{who.pk}"

        with monkeypatch.context() as patched:
            patched.setattr(configured, "ADMIN_PROOF_SECONDS", 0)
            refused = here.delete(path)
            is_there = Administrator.objects.filter(pk=who.pk).exists()
        done = here.delete(path)

        assert (refused.status_code, is_there, done.status_code) == (403, True, 200)
        assert "sign in again" in refused.json()["message"]

    def test_attack_AP18_nor_does_a_session_alone(self, acme):
        operator, who = operators.at(acme), management.new_administrator()
        path, name = "/admin/administrators/administrator/", f"thief-{who.pk}"
        new = {"username": name, "password": PASSWORD, "role": "administrator", "is_superuser": "on"}
        change = {"role": "administrator", "is_superuser": "on"}

        answers = [
            operator.submit(f"{path}do/create/", **new),
            operator.submit(f"{path}do/create/", **new, current_password="a guess"),
            operator.submit(f"{path}{who.pk}/do/change/", **change),
            operator.submit(f"{path}{who.pk}/do/change/", **change, current_password="a guess"),
            operator.submit(f"{path}{who.pk}/do/change/", role="administrator", email="a@acme.example"),
        ]

        assert [answer.status_code for answer in answers] == [400, 403, 403, 403, 303]
        assert not Administrator.objects.filter(username=name).exists()
        assert not Administrator.objects.get(pk=who.pk).is_superuser

    def test_the_proof_needs_the_code_of_whoever_has_one(self, address):
        with_code = administrator()
        with_code.second_step_since = "2026-01-01"

        with pytest.raises(proof.NotProven), tenancy.using(tenancy.DEFAULT):
            proof.check(with_code, password=PASSWORD, code="")


class TestIdleness:
    def test_attack_AP18_a_session_that_nobody_uses_ends(self, acme):
        operator = operators.at(acme)
        assert operator.get("/admin/").status_code == 200

        self.age(operator, configured.ADMIN_IDLE_SECONDS + 1)
        answer = operator.get("/admin/")

        assert answer.headers["Location"].startswith("/admin/login/")
        assert "signed out after 30 minutes without use" in operator.get(answer.headers["Location"]).text
        assert operator.get("/admin/").status_code == 302

    def test_attack_AP18_one_that_is_used_goes_on(self, acme):
        operator = operators.at(acme)
        for _ in range(3):
            self.age(operator, configured.ADMIN_IDLE_SECONDS - 60)
            assert operator.get("/admin/").status_code == 200

    def test_attack_AP18_one_that_is_used_ends_a_day_after_the_sign_in(self, address):
        operator, began = Operator(administrator(), Client()), timezone.now()
        day = configured.ADMINISTRATOR_TOKEN_SECONDS
        assert operator.sign_in().status_code == 303

        statuses = {}
        for after in (*range(0, day - 60, 1200), day - 60, day + 60):
            with time_machine.travel(began + timedelta(seconds=after)):
                statuses[after] = operator.get("/admin/tenant/").status_code

        assert statuses.pop(day + 60) == 302
        assert set(statuses.values()) == {200}

    def test_attack_AP18_a_new_sign_in_in_the_same_browser_lasts_a_day_too(self, address):
        operator, began = Operator(administrator(), Client()), timezone.now()
        assert operator.sign_in().status_code == 303

        with time_machine.travel(began + timedelta(minutes=20)):
            form = {"username": operator.who.username, "password": PASSWORD}
            assert operator.http.post("/admin/login/", form).status_code == 303
            assert operator.http.cookies[configured.SESSION_COOKIE_NAME]["max-age"] > 86_000

    def test_attack_AP18_a_session_of_an_earlier_release_gets_an_end_at_its_next_use(self, address):
        operator, began = Operator(administrator(), Client()), timezone.now()
        assert operator.sign_in().status_code == 303
        store = self.store_of(operator)
        del store["_session_expiry"]
        store.save()

        statuses = {}
        for after in (*range(90, configured.ADMINISTRATOR_TOKEN_SECONDS, 1200), 86_400 + 120):
            with time_machine.travel(began + timedelta(seconds=after)):
                statuses[after] = operator.get("/admin/tenant/").status_code

        assert statuses.pop(86_400 + 120) == 302
        assert set(statuses.values()) == {200}

    def store_of(self, operator):
        cookie = operator.http.cookies[configured.SESSION_COOKIE_NAME]
        return SessionStore(session_key=getattr(cookie, "value", cookie))

    def age(self, operator, seconds):
        operator.get("/admin/tenant/")
        store = self.store_of(operator)
        store[idle_sessions._KEY] = int(time.time()) - seconds
        store.save()
        assert AdministratorSession.objects.exists()


class TestDuties:
    def test_decision_N18_support_does_at_the_site_what_the_table_says(self, acme):
        furnish(acme)
        support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))
        opened = {
            (kind.opts.model_name, one.name)
            for kind in pages()
            for one in operators.operations(kind)
            if support.get(
                address_of(kind, *((first_of(kind, acme).pk,) if one.needs_row else ()), "do", one.name)
            ).status_code
            != 403
        }

        assert opened == {(kind, name) for kind, names in support_rights.OPERATIONS.items() for name in names}
        assert not {"delete", "password", "change", "roles"} & support_rights.OPERATIONS["user"]

    def test_decision_N18_and_at_every_route(self, acme):
        who = administrator(role="support", tenants=[acme.tenant.slug])
        token = result_of(sign_in(who.username))["access_token"]
        support, estate = management.Caller(acme, token), Estate(acme)
        opened = set()
        for route in all_routes():
            if route.group == "management" and route.method not in {"GET", "HEAD", "OPTIONS"}:
                # No field is valid: callers with the permission are told so, and change nothing.
                answer = support.request(
                    route.method, route.filled(estate.ids(route)), json={"is_suspended": 7}
                )
                if answer.status_code != 403:
                    opened.add(str(route))

        assert opened == {
            *("POST /users", "PATCH /users/:pk", "PATCH /users/:pk/suspend", "DELETE /users/:pk/locks"),
            *("POST /users/:pk/sign-out", "DELETE /users/:pk/sessions", "DELETE /users/:pk/grants"),
            *("DELETE /users/:pk/sessions/:session_pk", "DELETE /users/:pk/grants/:grant_pk"),
        }

    @pytest.mark.parametrize("field", ["email", "phone", "primary_email", "primary_phone", "username"])
    def test_decision_N18_support_changes_nothing_that_signs_people_in(self, acme, field):
        who = administrator(role="support", tenants=[acme.tenant.slug])
        support = management.Caller(acme, result_of(sign_in(who.username))["access_token"])
        path = f"/users/{acme.user().pk}"

        refusal_of(support.patch(path, **{field: "support@evil.example"}), 403)
        result_of(support.patch(path, name="Ada"))
        refusal_of(support.delete(path), 403)
        refusal_of(support.patch(f"{path}/password", password="the thief's words"), 403)
        result_of(support.patch(f"{path}/suspend", is_suspended=True))

    def test_decision_N18_common_passwords_are_refused_in_new_tenants(self, acme):
        with acme.active():
            assert experiences.current().password_policy["reject_common"] is True

        body = {"username": f"u-{secrets.token_hex(4)}", "password": "password123"}
        answer = acme.browser().post("/api/interaction/register", json=body)

        assert answer.status_code == 400
        assert "common password" in answer.json()["message"]

    def test_decision_N18_tenants_that_are_there_keep_their_policy(self, acme):
        assert SignInExperience._meta.get_field("password_policy").get_default()["reject_common"] is False

    def test_the_log_names_who_proved_again(self, acme):
        operator = operators.at(acme)

        operator.submit(PATH, current="wrong", password="quite another one")

        written = Entry.objects.filter(key="Admin.VerifyPassword", payload__username=operator.who.username)
        assert [entry.payload["error"] for entry in written] == ["invalid_credentials"]

"""Who comes into the operators' site, for how long, and what each role may do there."""

import os
import re
import subprocess
import sys

import httpx
import pytest
from django.conf import settings as configured
from django.contrib.sessions.models import Session as AdministratorSession
from django.db import transaction
from django.test import Client

from audit.models import Entry
from identity.core import tenancy
from identity.limits import rules
from identity.limits.rules import Lock
from management.administrators import rights
from management.administrators import services as administrators
from management.administrators.models import Administrator
from tests.support import cast, management, operators
from tests.support.admin_pages import LISTS, first_of, furnish, is_sign_in, operate
from tests.support.cast import PASSWORD
from tests.support.management import PASSWORD as OTHER_PASSWORD
from tests.support.operators import Operator, address_of, administrator, pages


class TestSigningIn:
    def test_every_page_asks_for_it(self, address):
        for path in ("/admin/", "/admin/tenant/", "/admin/password/", "/admin/why/", *LISTS):
            assert is_sign_in(httpx.get(address + path)), path

    def test_lets_an_administrator_in_and_writes_it_down(self, address):
        operator = Operator(administrator())

        answer = operator.sign_in()

        assert (answer.status_code, answer.headers["Location"]) == (303, "/admin/")
        cookie = answer.headers["Set-Cookie"]
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
        written = Entry.objects.filter(key="Admin.SignIn", payload__username=operator.who.username)
        assert [entry.payload["result"] for entry in written] == ["success"]

    def test_refuses_a_wrong_password_in_the_words_of_the_api(self, address):
        operator = Operator(administrator())

        answer = operator.sign_in(password="wrong")

        assert answer.status_code == 401
        assert "The username or the password is wrong." in answer.text
        assert "wrong" not in re.findall(r'value="([^"]*)"', answer.text)
        written = Entry.objects.get(key="Admin.SignIn", payload__username=operator.who.username)
        assert written.payload["error"] == "invalid_credentials"
        assert is_sign_in(operator.get("/admin/"))

    def test_an_end_user_is_nobody_here(self, acme):
        user = acme.user()
        operator = Operator(administrator())
        operator.who.username = user.username

        assert operator.sign_in().status_code == 401

    def test_leads_to_no_other_site(self, address):
        answer = Operator(administrator()).sign_in(next="https://evil.example/")

        assert answer.headers["Location"] == "/admin/"

    def test_needs_the_token_of_its_own_form(self, address):
        who = administrator()

        answer = httpx.post(f"{address}/admin/login/", data={"username": who.username, "password": PASSWORD})

        assert answer.status_code == 403

    def test_locks_after_too_many_failures_whatever_the_password(self, monkeypatch):
        monkeypatch.setattr(rules, "ADMINISTRATOR", Lock("administrator", 3, 900))
        who, client = administrator(), Client()
        for _ in range(3):
            client.post("/admin/login/", {"username": who.username, "password": "wrong"})

        answer = client.post("/admin/login/", {"username": who.username, "password": PASSWORD})

        assert answer.status_code == 401
        assert int(answer["Retry-After"]) > 0

    def test_the_cookie_is_for_this_host_and_https_alone_in_production(self):
        code = (
            "import os; os.environ['BASE_URL'] = 'https://id.example';"
            "from django.conf import settings as s; print(s.SESSION_COOKIE_NAME, s.SESSION_COOKIE_SECURE)"
        )
        said = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
            capture_output=True,
            text=True,
            check=True,
            cwd=configured.BASE_DIR,
        ).stdout

        assert said.split() == ["__Host-gatehouse-admin", "True"]


class TestTheSession:
    def test_is_stored_as_a_hash_of_what_the_browser_holds(self, operator):
        key = operator.http.cookies["gatehouse-admin"]

        assert not AdministratorSession.objects.filter(session_key=key).exists()
        assert operator.get("/admin/").status_code == 200

    def test_ends_with_signing_out_for_every_copy_of_the_cookie(self, operator):
        copy = dict(operator.http.cookies)

        operator.submit("/admin/logout/", page="/admin/")

        assert is_sign_in(httpx.get(f"{configured.BASE_URL}/admin/", cookies=copy))

    def test_does_not_end_by_a_link(self, operator):
        operator.get("/admin/logout/")

        assert operator.get("/admin/").status_code == 200

    @pytest.mark.parametrize("fields", [{"password": OTHER_PASSWORD}, {"is_superuser": False}])
    def test_ends_with_another_password_or_standing(self, operator, fields):
        with tenancy.using(tenancy.DEFAULT):
            administrators.change(operator.who, fields)

        assert is_sign_in(operator.get("/admin/"))

    def test_ends_with_the_administrator(self, operator):
        with tenancy.using(tenancy.DEFAULT):
            administrators.remove(operator.who)

        assert is_sign_in(operator.get("/admin/"))

    def test_own_password_is_changed_with_the_old_one_alone(self, operator):
        refused = operator.submit("/admin/password/", current="wrong", password=OTHER_PASSWORD)
        changed = operator.submit("/admin/password/", current=PASSWORD, password=OTHER_PASSWORD)

        assert refused.status_code == 401
        assert changed.status_code == 303
        assert is_sign_in(operator.get("/admin/"))
        assert Operator(operator.who).sign_in(OTHER_PASSWORD).status_code == 303


class TestRoles:
    def test_an_auditor_reads_everything_and_changes_nothing(self, acme):
        furnish(acme)
        operator = operators.at(acme, administrator(role="auditor", is_superuser=True))
        shown = operator.get("/admin/users/user/").text
        token = management.administrator_token(operator.who.username, PASSWORD, acme.address)
        caller = management.Caller(acme, token)

        for kind in pages():
            page = operator.get(address_of(kind), follow_redirects=True)
            assert page.status_code == 200
            assert "/do/" not in page.text
            for operation in operators.operations(kind):
                parts = (first_of(kind, acme).pk,) if operation.needs_row else ()
                assert operator.get(address_of(kind, *parts, "do", operation.name)).status_code == 403
        assert "Create user" not in shown
        assert caller.get("/users").status_code == 200
        assert operator.get("/admin/audit/entry/export/").status_code == 200
        for path in ("/users", "/applications", "/signing-keys/rotate"):
            refusal = management.refusal_of(caller.post(path, name="x"), 403)
            assert refusal == "the role auditor does not allow this"

    def test_support_changes_users_and_nothing_else(self, acme):
        user, client = acme.user(), acme.application()
        operator = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))
        token = management.administrator_token(operator.who.username, PASSWORD, acme.address)
        caller = management.Caller(acme, token)

        assert operate(operator, "users/user", user, "suspend").status_code == 303
        secret = f"/admin/applications/application/{client.application.pk}/do/secret/"
        assert operator.get(secret).status_code == 403
        assert caller.patch(f"/users/{user.pk}/suspend", is_suspended=False).status_code == 200
        assert caller.patch(f"/applications/{client.application.pk}", name="Mine").status_code == 403
        assert caller.get("/applications").status_code == 200

    def test_another_role_ends_the_session(self, operator):
        with tenancy.using(tenancy.DEFAULT):
            administrators.change(operator.who, {"role": "support"})

        assert is_sign_in(operator.get("/admin/"))

    def test_the_last_who_manages_everything_keeps_the_role(self, address):
        who = administrator()

        with transaction.atomic():
            Administrator.objects.exclude(pk=who.pk).update(role="auditor")
            with pytest.raises(rights.LastSuperuser), tenancy.using(tenancy.DEFAULT):
                administrators.change(who, {"role": "support"})
            transaction.set_rollback(True)

    def test_who_is_no_administrator_by_role_makes_none(self, acme):
        operator = operators.at(acme, administrator(role="auditor", is_superuser=True))
        token = management.administrator_token(operator.who.username, PASSWORD, configured.BASE_URL)
        root = management.Caller(cast.default_world(), token)

        assert root.get("/administrators").status_code == 200
        assert root.patch(f"/administrators/{operator.who.pk}", role="administrator").status_code == 403

"""A form of the operators' site that is sent twice does nothing twice, and a new secret survives a reload."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F

from audit.models import Entry
from identity.core import expiry, tenancy
from identity.submissions.models import IdempotencyKey, ShownOnce
from identity.tenants.models import Tenant
from identity.users.models import User
from management.administrators.models import Administrator
from oidc.applications.models import Application
from tests.support import cast, operators
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD, World
from tests.support.operators import Operator
from tests.support.threads import at_once

APPLICATIONS = "/admin/applications/application/"
NEW = f"{APPLICATIONS}do/create/"
ROBOT = {"name": "Robot", "type": "MachineToMachine"}


def form_at(operator: Operator, path: str, **typed: str) -> dict[str, str]:
    """The form on a page, filled in: the hidden fields that it has, and what is typed."""
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', operator.get(path).text)
    return {name: html.unescape(value) for name, value in found} | typed


def named(world: World, name: str) -> list[Application]:
    with world.active():
        return list(Application.objects.filter(name=name))


def shown_secret(page: str) -> str:
    (secret,) = re.findall(r'id="once-2"[^>]*value="([^"]+)"', page)
    return str(secret)


def done_button(page: str) -> str:
    """Where the form with the button Done leads."""
    (path,) = re.findall(r'action="([^"]+/done/)"', page)
    return str(path)


def new_robot(operator: Operator) -> str:
    """The page that shows the secret of a new application."""
    made = operator.http.post(NEW, data=form_at(operator, NEW, **ROBOT))
    assert made.status_code == 303, made.text
    return str(made.headers["Location"])


def let_pass(model: Any, **time: int) -> None:
    with tenancy.using(tenancy.EVERYWHERE):
        model.objects.update(expires_at=F("expires_at") - timedelta(**time))


class TestShownOnce:
    def test_a_secret_survives_a_reload_until_done_is_pressed(self, acme, operator):
        page = new_robot(operator)
        (robot,) = named(acme, "Robot")

        first, reloaded = operator.get(page), operator.get(page)
        secret = shown_secret(first.text)
        done = operator.submit(done_button(first.text), page=page)
        after = operator.get(page)

        assert shown_secret(reloaded.text) == secret
        assert f"CLIENT_ID={robot.client_id}\nCLIENT_SECRET={secret}" in first.text
        assert f"ISSUER={acme.address.removesuffix('/')}\n" in first.text
        assert "This secret won&#x27;t be shown again." in first.text or "won't be shown again" in first.text
        assert "no-store" in first.headers["Cache-Control"]
        assert done.headers["Location"] == f"{APPLICATIONS}{robot.pk}/change/"
        assert after.status_code == 410
        assert "no longer shown" in after.text
        assert f'href="{APPLICATIONS}{robot.pk}/do/secret/"' in after.text
        assert secret not in after.text

    def test_it_expires_and_is_purged(self, acme, operator):
        page = new_robot(operator)
        secret = shown_secret(operator.get(page).text)

        let_pass(ShownOnce, seconds=121)
        late = operator.get(page)
        (kind,) = [kind for kind in expiry.get_kinds() if kind.name == "shown_once"]
        list(expiry.purge(kind))

        assert (late.status_code, secret in late.text) == (410, False)
        assert not ShownOnce.objects.filter(administrator=str(operator.who.pk)).exists()

    @pytest.mark.parametrize("viewer", ["session", "operator", "tenant", "page"])
    def test_nobody_else_sees_it(self, acme, rival, operator, viewer):
        page = new_robot(operator)
        other = operator
        if viewer == "session":
            other = operators.at(acme, operator.who)
        elif viewer == "operator":
            other = operators.at(acme)
        elif viewer == "tenant":
            other.choose(rival)
        else:
            page = page.replace("/do/secret/", "/do/add-secret/")

        answer = other.get(page)

        assert answer.status_code == (404 if viewer == "tenant" else 410)
        assert "Client secret" not in answer.text

    def test_nobody_else_ends_it(self, acme, operator):
        page = new_robot(operator)
        other = operators.at(acme)
        path = done_button(operator.get(page).text)

        other.submit(path, page=NEW)

        assert operator.get(page).status_code == 200

    def test_it_is_stored_encrypted_and_is_in_no_url_and_no_log(self, acme, operator):
        page = new_robot(operator)
        secret = shown_secret(operator.get(page).text)

        with tenancy.using(tenancy.EVERYWHERE):
            rows = [*ShownOnce.objects.values(), *IdempotencyKey.objects.values()]
        entries = list(Entry.objects.filter(tenant_id=acme.tenant.pk).values())

        assert rows
        assert secret not in page
        assert secret not in str(rows)
        assert secret not in str(entries)

    def test_done_leads_to_no_other_site(self, operator):
        page = new_robot(operator)
        path = done_button(operator.get(page).text)

        done = operator.submit(path, page=page, next="https://evil.example/")

        assert done.headers["Location"] == "/admin/"


class TestSentTwice:
    def test_has_the_answer_of_the_first_and_makes_nothing(self, acme, operator):
        form = form_at(operator, NEW, **ROBOT)

        first, second = (operator.http.post(NEW, data=form) for _ in range(2))

        assert len(named(acme, "Robot")) == 1
        assert second.status_code == first.status_code == 303
        assert second.headers["Location"] == first.headers["Location"]
        assert shown_secret(operator.get(second.headers["Location"]).text)

    def test_a_secret_that_is_rotated_twice_by_one_form_is_the_one_shown(self, acme, operator):
        client = acme.application("MachineToMachine")
        path = f"{APPLICATIONS}{client.application.pk}/do/secret/"
        form = form_at(operator, path)

        _, second = (operator.http.post(path, data=form) for _ in range(2))
        secret = shown_secret(operator.get(second.headers["Location"]).text)

        answer = client.token(grant_type="client_credentials", auth=(client.client_id, secret))
        assert answer.status_code == 200

    def test_with_other_values_it_is_shown_again_and_then_does_it(self, acme, operator):
        form = form_at(operator, NEW, **ROBOT)
        operator.http.post(NEW, data=form)

        other = operator.http.post(NEW, data=form | {"name": "Second"})
        none = named(acme, "Second")
        (key,) = re.findall(r'name="idempotency_key" value="([^"]+)"', other.text)
        sent = operator.http.post(NEW, data=form | {"name": "Second", "idempotency_key": key})

        assert other.status_code == 422
        assert "You have sent this form before, with other values" in other.text
        assert 'value="Second"' in other.text
        assert (none, sent.status_code, len(named(acme, "Second"))) == ([], 303, 1)

    def test_what_was_refused_can_be_corrected_and_sent_again(self, acme, operator):
        form = form_at(operator, NEW, **ROBOT)

        refused = operator.http.post(NEW, data=form | {"post_logout_redirect_uris": "https://a.example/#x"})
        sent = operator.http.post(NEW, data=form)

        assert (refused.status_code, sent.status_code) == (400, 303)
        assert len(named(acme, "Robot")) == 1

    def test_the_second_deletion_leads_where_the_first_did(self, acme, operator):
        user = acme.user()
        path = f"/admin/users/user/{user.pk}/do/delete/"
        form = form_at(operator, path)

        answers = [operator.http.post(path, data=form) for _ in range(2)]

        assert [answer.headers["Location"] for answer in answers] == ["/admin/users/user/"] * 2

    def test_keys_of_others_and_of_other_tenants_are_other_keys(self, acme, rival, operator):
        form = form_at(operator, NEW, **ROBOT)
        operator.http.post(NEW, data=form)
        colleague = operators.at(acme)
        own = form_at(colleague, NEW, **ROBOT) | {"idempotency_key": form["idempotency_key"]}

        by_colleague = colleague.http.post(NEW, data=own)
        operator.choose(rival)
        at_rival = operator.http.post(
            NEW, data=form_at(operator, NEW, **ROBOT) | {"idempotency_key": form["idempotency_key"]}
        )

        assert (by_colleague.status_code, at_rival.status_code) == (303, 303)
        assert (len(named(acme, "Robot")), len(named(rival, "Robot"))) == (2, 1)

    def test_a_day_later_the_key_is_free_and_its_row_is_purged(self, acme, operator):
        form = form_at(operator, NEW, **ROBOT)
        operator.http.post(NEW, data=form)

        let_pass(IdempotencyKey, hours=25)
        operator.http.post(NEW, data=form)
        let_pass(IdempotencyKey, hours=25)
        (kind,) = [kind for kind in expiry.get_kinds() if kind.name == "idempotency_keys"]
        list(expiry.purge(kind))

        assert len(named(acme, "Robot")) == 2
        with acme.active():
            assert not IdempotencyKey.objects.exists()

    @pytest.mark.parametrize("key", ["", "x" * 256])
    def test_without_a_usable_key_it_is_done_as_before(self, acme, operator, key):
        form = form_at(operator, NEW, **ROBOT) | {"idempotency_key": key}

        answer = operator.http.post(NEW, data=form)

        assert (answer.status_code, len(named(acme, "Robot"))) == (303, 1)
        with acme.active():
            assert not IdempotencyKey.objects.exists()

    def test_an_administrator_with_another_role_gets_no_earlier_answer(self, acme, operator):
        form = form_at(operator, NEW, **ROBOT)
        operator.http.post(NEW, data=form)

        Administrator.objects.filter(pk=operator.who.pk).update(role="auditor")
        answer = operator.http.post(NEW, data=form)

        assert answer.headers["Location"].startswith("/admin/login/")

    def test_a_wrong_own_password_is_counted_and_logged_though_the_form_is_refused(self, acme, operator):
        path = "/admin/administrators/administrator/do/create/"
        typed = {"username": f"by-{operator.who.pk}", "password": PASSWORD, "role": "support"}

        refused = [operator.submit(path, **typed, current_password="wrong").status_code for _ in range(2)]

        entries = Entry.objects.filter(
            key="Administrator.VerifyPassword", payload__username=operator.who.username
        )
        written = Entry.objects.filter(payload__username=operator.who.username, payload__result="failed")
        assert refused == [403, 403]
        assert entries.count() == 2 or written.count() == 2
        assert not Administrator.objects.filter(username=typed["username"]).exists()

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
    )
    def test_twenty_at_once_make_one_and_have_one_answer(self, acme, operator):
        form = form_at(operator, NEW, **ROBOT)
        cookies = dict(operator.http.cookies)

        def send(_: int) -> tuple[int, str]:
            http = operators._new_http()
            http.cookies.update(cookies)
            answer = http.post(NEW, data=form)
            return answer.status_code, answer.headers.get("Location", answer.text[:200])

        answers = at_once(20, send)

        assert len(named(acme, "Robot")) == 1
        assert len(set(answers)) == 1, answers
        assert answers[0][0] == 303
        assert shown_secret(operator.get(answers[0][1]).text)


class TestSavedPages:
    def test_a_new_user_is_shown(self, acme, operator):
        made = operate(operator, "users/user", None, "create", username="grace", password=PASSWORD)

        with acme.active():
            user = User.objects.get(username="grace")
        assert made.headers["Location"] == f"/admin/users/user/{user.pk}/change/"

    def test_a_new_tenant_is_shown_with_a_button_that_leads_into_it(self, operator):
        slug = f"made-{operator.who.pk}"

        made = operate(operator, "tenants/tenant", None, "create", slug=slug, name="Made")
        tenant = Tenant.objects.get(slug=slug)
        page = made.headers["Location"]
        shown = operator.get(page).text
        operator.submit("/admin/tenant/", page=page, tenant=tenant.pk)

        assert page == f"/admin/tenants/tenant/{tenant.pk}/change/"
        assert 'value="Go to Made"' in shown
        assert 'value="Go to Made"' not in operator.get(page).text
        assert "Made</a>" in operator.get("/admin/").text

    def test_a_new_administrator_is_shown(self, operator):
        name = f"new-{cast.new_secret()[:6]}"

        made = operate(
            operator, "administrators/administrator", None, "create",
            username=name, password=PASSWORD, role="support", current_password=PASSWORD,
        )  # fmt: skip

        pk = Administrator.objects.get(username=name).pk
        assert made.headers["Location"] == f"/admin/administrators/administrator/{pk}/change/"

"""The operators' site: who comes in, what they see, and that what they do goes through the services."""

import csv
import io
import os
import re
import subprocess
import sys
from datetime import timedelta

import httpx
import pytest
from django.conf import settings as configured
from django.contrib.sessions.models import Session as AdministratorSession
from django.db import transaction
from django.test import Client
from django.utils import timezone
from zeal import zeal_context

from audit import context, log, retention
from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.limits import rules
from identity.limits.rules import Lock
from identity.organizations.models import Membership, Organization, OrganizationPermission, OrganizationRole
from identity.sessions import services as sessions
from identity.sessions.models import UNKNOWN_AUTH_TIME
from identity.tenants.models import Tenant
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.messages import Message
from interaction.connectors.models import Connector
from interaction.experience.models import SignInExperience
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from management.administrators import services as administrators
from management.administrators.models import Administrator
from oidc.applications.models import Application
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support import cast, management, operators
from tests.support.cast import PASSWORD
from tests.support.management import PASSWORD as OTHER_PASSWORD
from tests.support.operators import Operator, address_of, administrator, pages

SECRET = "hunter2-is-what-nobody-may-see"
LISTS = [address_of(kind) for kind in pages()]


@pytest.fixture
def operator(acme):
    return operators.at(acme)


def furnish(world):
    """Put several rows into every list of a tenant, and return it."""
    people = [world.user(name=f"Person {number}", email=f"p{number}@acme.example") for number in range(3)]
    applications = [world.application(name=f"Shop {number}") for number in range(3)]
    world.application("MachineToMachine", name="Robot")
    with world.active():
        for user in people:
            sessions.start(user, amr=["pwd"])
            log.record(Event.SIGN_IN_PASSWORD, user_id=user.pk, identifier=user.username, result="success")
        for number in range(3):
            made = Organization.objects.create(name=f"Chapter {number}")
            OrganizationRole.objects.create(name=f"Role {number}")
            OrganizationPermission.objects.create(name=f"read:{number}")
            for user in people:
                Membership.objects.create(organization=made, user=user)
            connectors.create(
                connector_id="google", type="Social", config={"client_id": "x", "client_secret": SECRET}
            )
            outgoing.enqueue(
                Message(channel="email", to="a@acme.example", interaction_type="test", code="", body=SECRET)
            )
        # Nobody sends them while they are looked at.
        OutgoingMessage.objects.update(due_at=timezone.now() + timedelta(hours=1))
        keys.rotate()
    return people, applications


def first_of(kind, world):
    """A row of a kind in a tenant."""
    with world.active():
        if kind.model is Entry:
            return Entry.objects.filter(tenant_id=world.tenant.pk).first()
        if kind.model is Tenant:
            return world.tenant
        return kind.model._default_manager.first()


def entries(world, key):
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "id"))


def is_sign_in(answer):
    return answer.status_code == 302 and answer.headers["Location"].startswith("/admin/login/")


class TestSigningIn:
    def test_every_page_asks_for_it(self, address):
        for path in ("/admin/", "/admin/tenant/", "/admin/password/", "/admin/why/", *LISTS):
            assert is_sign_in(httpx.get(address + path)), path

    def test_lets_an_administrator_in_and_writes_it_down(self, address):
        operator = Operator(administrator())

        answer = operator.sign_in()

        assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")
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
        assert changed.status_code == 302
        assert is_sign_in(operator.get("/admin/"))
        assert Operator(operator.who).sign_in(OTHER_PASSWORD).status_code == 302


class TestTenants:
    @pytest.mark.parametrize("path", ["/admin", "/admin/", "/admin/login/", "/admin/users/user/"])
    def test_case_K10_below_a_tenant_there_is_no_such_site(self, acme, path):
        assert acme.get(path).status_code == 404

    def test_the_site_is_found_without_the_last_slash(self, address):
        assert httpx.get(f"{address}/admin").headers["Location"] == "/admin/"

    def test_nothing_is_shown_before_one_is_chosen(self, acme, rival):
        operator = Operator(administrator())
        operator.sign_in()

        for path in ("/admin/", *LISTS):
            answer = operator.get(path)
            assert answer.headers["Location"] == f"/admin/tenant/?next={path}", path

    def test_who_manages_one_works_there(self, acme):
        operator = Operator(administrator(tenants=[acme.tenant.slug]))
        operator.sign_in()

        assert acme.tenant.name in operator.get("/admin/").text

    def test_only_managed_ones_can_be_chosen(self, acme, rival):
        other = cast.new_world("Third")
        operator = Operator(administrator(tenants=[acme.tenant.slug, other.tenant.slug]))
        operator.sign_in()

        shown = operator.get("/admin/tenant/").text
        refused = operator.submit("/admin/tenant/", tenant=rival.tenant.pk)

        assert acme.tenant.slug in shown
        assert rival.tenant.slug not in shown
        assert refused.status_code == 404

    def test_one_that_is_taken_away_is_left_at_once(self, acme, rival):
        who = administrator(tenants=[acme.tenant.slug, rival.tenant.slug])
        operator = operators.at(rival, who)

        who.tenants.remove(rival.tenant)

        assert rival.tenant.slug not in operator.get("/admin/users/user/").text
        assert acme.tenant.name in operator.get("/admin/").text

    @pytest.mark.parametrize("path", ["/admin/tenants/tenant/", "/admin/administrators/administrator/"])
    def test_installation_wide_pages_are_for_superusers(self, acme, path):
        operator = operators.at(acme, administrator(tenants=[acme.tenant.slug, cast.new_world().tenant.slug]))

        assert operator.get(path).status_code == 403
        assert operator.get(f"{path}do/create/").status_code == 403
        assert path not in operator.get("/admin/").text

    def test_what_another_tenant_owns_is_unknown(self, acme, rival, operator):
        furnish(rival)

        for kind in pages():
            if kind.model in {Tenant, Administrator}:  # which belong to no tenant
                continue
            row = first_of(kind, rival)
            assert operator.get(address_of(kind, row.pk, "change")).status_code == 404
            for operation in getattr(kind, "operations", ()):
                assert operator.get(address_of(kind, row.pk, "do", operation.name)).status_code == 404
            assert str(row.pk) not in operator.get(address_of(kind), follow_redirects=True).text


class TestPages:
    def test_each_list_and_row_is_read_without_a_query_a_row_and_shows_no_secret(self, acme):
        people, applications = furnish(acme)
        operator = Operator(administrator(), Client())
        operator.sign_in()
        operator.choose(acme)
        with acme.active():
            secrets_of_rows = [
                SECRET,
                people[0].password,
                operator.who.password,
                applications[0].application.secret_digest,
                applications[0].secret,
                *SigningKey.objects.values_list("sealed_private_key", flat=True),
                *Connector.objects.values_list("sealed_config", flat=True),
                *OutgoingMessage.objects.values_list("sealed", flat=True),
                *people[0].sessions.values_list("token_hash", flat=True),
            ]

        for kind in pages():
            row = first_of(kind, acme)
            open_now = [
                operation.name
                for operation in getattr(kind, "all_operations", list)()
                if operation.row_needed and operation.possible(row)
            ]
            paths = [address_of(kind), address_of(kind, row.pk, "change")]
            paths += [f"{address_of(kind)}?q=person"] if kind.search_fields else []
            paths += [address_of(kind, row.pk, "do", name) for name in open_now]
            for path in paths:
                with zeal_context():
                    answer = operator.get(path, follow=True)
                assert answer.status_code == 200, path
                assert [secret for secret in secrets_of_rows if secret in answer.content.decode()] == [], path

    @pytest.mark.parametrize("what", ["add", "{pk}/delete", "{pk}/history", "{pk}/password"])
    def test_django_s_own_forms_are_not_there(self, acme, operator, what):
        user = acme.user()

        assert operator.get(f"/admin/users/user/{what.format(pk=user.pk)}/").status_code == 404

    def test_nothing_is_saved_by_the_page_of_a_row(self, acme, operator):
        user = acme.user(name="Ada")

        answer = operator.submit(
            f"/admin/users/user/{user.pk}/change/", page="/admin/users/user/", name="Eve", is_suspended="on"
        )

        with acme.active():
            assert answer.status_code == 403
            assert User.objects.get(pk=user.pk).name == "Ada"

    @pytest.mark.parametrize(
        "path", ["users/user/nonsense", "users/user/%00", "keys/signingkey/1", "audit/entry/x"]
    )
    def test_what_is_no_id_is_unknown(self, operator, path):
        assert operator.get(f"/admin/{path}/change/").status_code == 404

    @pytest.mark.parametrize(
        "query", ["?p=999", "?q=%00", "?o=99", "?is_suspended__exact=x", "?nonsense=1", "?user__password=x"]
    )
    def test_no_query_is_a_failure(self, operator, query):
        assert operator.get(f"/admin/users/user/{query}").status_code in {200, 302, 400}
        assert operator.get(f"/admin/audit/entry/{query}").status_code in {200, 302, 400}

    def test_users_are_searched_like_in_the_api(self, acme, operator):
        acme.user("findme", name="Ada Lovelace")
        acme.user("nobody-else")

        found = operator.get("/admin/users/user/", params={"q": "LOVELACE"}).text

        assert "findme" in found
        assert "nobody-else" not in found


def operate(operator, kind, row, name, /, **typed):
    path = f"/admin/{kind}/{row.pk}/do/{name}/" if row is not None else f"/admin/{kind}/do/{name}/"
    return operator.submit(path, **typed)


class TestOperations:
    def test_suspending_ends_sessions_and_names_who_did_it(self, acme, operator):
        user = acme.user()
        with acme.active():
            sessions.start(user, amr=["pwd"])

        answer = operate(operator, "users/user", user, "suspend")

        with acme.active():
            assert answer.status_code == 302
            assert User.objects.get(pk=user.pk).is_suspended
            assert not user.sessions.live().exists()
        entry = entries(acme, "User.Update")[-1]
        assert entry.payload["administrator_id"] == operator.who.pk
        assert entry.payload["fields"] == ["is_suspended"]

    def test_nothing_happens_before_it_is_confirmed_or_without_the_form_s_token(self, acme, operator):
        user = acme.user()
        path = f"/admin/users/user/{user.pk}/do/delete/"

        operator.get(path)
        forged = operator.http.post(path, data={})

        assert forged.status_code == 403
        with acme.active():
            assert User.objects.filter(pk=user.pk).exists()

    def test_a_password_is_checked_by_the_service_and_never_shown_again(self, acme, operator):
        user = acme.user()

        refused = operate(operator, "users/user", user, "password", password="short")
        done = operate(operator, "users/user", user, "password", password="quite long enough")

        assert refused.status_code == 400
        assert "must have 6 to 256 characters" in refused.text
        assert 'value="short"' not in refused.text
        assert done.status_code == 302
        assert acme.browser().sign_in(user, "quite long enough").status_code == 200

    def test_an_edit_of_what_somebody_else_changed_meanwhile_is_refused(self, acme, operator):
        user = acme.user()
        path = f"/admin/users/user/{user.pk}/do/change/"
        operator_page = operator.get(path).text
        (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', operator_page)
        operate(operators.at(acme), "users/user", user, "suspend")

        sent = {"csrfmiddlewaretoken": token, "drawn_for": operator.tenant, "version": "1", "name": "Eve"}
        answer = operator.http.post(path, data=sent)

        assert answer.status_code == 412
        assert "it was changed since you read it" in answer.text

    def test_a_tenant_is_told_how_long_to_keep_its_log(self, acme, operator):
        refused = operate(
            operator, "tenants/tenant", acme.tenant, "change", name="Acme", audit_retention_days="5"
        )
        operate(operator, "tenants/tenant", acme.tenant, "change", name="Acme 2", audit_retention_days="90")
        shown = operator.get(f"/admin/tenants/tenant/{acme.tenant.pk}/change/").text
        kept = retention.get_days(acme.tenant.pk)
        acme.tenant.refresh_from_db()
        operate(operator, "tenants/tenant", acme.tenant, "change", name="Acme 2", audit_retention_days="")

        assert refused.status_code == 400
        assert (acme.tenant.name, kept) == ("Acme 2", 90)
        assert "Kept for 90 days" in shown
        assert retention.get_days(acme.tenant.pk) is None

    def test_all_sessions_of_a_person_end(self, acme, operator):
        user = acme.user()
        with acme.active():
            for _ in range(2):
                sessions.start(user, amr=["pwd"])

        operate(operator, "users/user", user, "end-sessions")

        with acme.active():
            assert not user.sessions.live().exists()
        assert entries(acme, "Session.End")[-1].payload["count"] == 2

    def test_a_sign_in_that_a_provider_did_not_date_has_an_unknown_time(self, acme, operator):
        user = acme.user()
        with acme.active():
            session, _ = sessions.start(user, amr=[], auth_time=UNKNOWN_AUTH_TIME)

        for path in (
            "identity_sessions/session/",
            f"identity_sessions/session/{session.pk}/change/",
            f"users/user/{user.pk}/change/",
        ):
            page = operator.get(f"/admin/{path}").text
            assert "Unknown" in page
            assert "1970" not in page

    def test_a_new_secret_is_shown_once_and_works(self, acme, operator):
        client = acme.application("MachineToMachine")

        sent = operate(operator, "applications/application", client.application, "secret")
        answer = operator.get(sent.headers["Location"])

        (secret,) = re.findall(r'id="once-2"[^>]*value="([^"]+)"', answer.text)
        assert "no-store" in answer.headers["Cache-Control"]
        assert client.token(grant_type="client_credentials").status_code == 401
        assert (
            client.token(grant_type="client_credentials", auth=(client.client_id, secret)).status_code == 200
        )
        assert (
            secret
            not in operator.get(f"/admin/applications/application/{client.application.pk}/change/").text
        )
        assert secret not in str([entry.payload for entry in entries(acme, "Application.Update")])

    def test_an_application_is_registered_by_the_rules_of_its_type(self, acme, operator):
        path = "applications/application"
        typed = {"name": "Shop", "type": "Traditional"}

        refused = operate(operator, path, None, "create", **typed, redirect_uris="https://shop.example/#x")
        made = operate(operator, path, None, "create", **typed, redirect_uris="https://shop.example/cb")

        assert refused.status_code == 400
        assert made.status_code == 302
        with acme.active():
            assert Application.objects.get(name="Shop").redirect_uris == ["https://shop.example/cb"]

    def test_signing_keys_are_prepared_and_rotated_and_the_active_one_stays(self, acme, operator):
        operate(operator, "keys/signingkey", None, "prepare")
        with acme.active():
            waiting, old = SigningKey.objects.next().get(), SigningKey.objects.active().get()

        operate(operator, "keys/signingkey", None, "rotate")

        with acme.active():
            active = SigningKey.objects.active().get()
        assert active.pk == waiting.pk
        refused = operator.get(f"/admin/keys/signingkey/{active.pk}/do/delete/")
        operate(operator, "keys/signingkey", old, "delete")
        with acme.active():
            assert refused.status_code == 302
            assert [key.pk for key in SigningKey.objects.all()] == [active.pk]

    def test_connectors_are_switched_and_tested(self, acme, operator):
        with acme.active():
            connector = connectors.create(connector_id="outbox-email", type="Email", config={})

        operate(operator, "connectors/connector", connector, "enable")
        nobody = operate(operator, "connectors/connector", connector, "test")
        sent = operate(operator, "connectors/connector", connector, "test", to="ada@acme.example")

        with acme.active():
            assert Connector.objects.get(pk=connector.pk).enabled
        assert nobody.status_code == 400
        assert "is required: your own account has no" in nobody.text
        assert sent.status_code == 302

    def test_the_look_is_checked_as_by_the_api(self, acme, operator):
        with acme.active():
            row = SignInExperience.objects.get()
        kind = "experience/signinexperience"

        refused = operate(operator, kind, row, "look", primary_color="red", logo_url="http://x.example/l.png")
        done = operate(operator, kind, row, "look", primary_color="#0a84ff")

        assert refused.status_code == 400
        assert "must be a colour like #0a84ff" in refused.text
        assert done.status_code == 302
        with acme.active():
            assert SignInExperience.objects.get().branding["primary_color"] == "#0a84ff"

    def test_messages_are_erased_and_sent_anew(self, acme, operator):
        with acme.active():
            outgoing.enqueue(
                Message(channel="email", to="a@b.example", interaction_type="test", code="", body="x")
            )
            OutgoingMessage.objects.update(due_at=timezone.now() + timedelta(hours=1))
            row = OutgoingMessage.objects.get()

        operate(operator, "verification/outgoingmessage", row, "drop")
        gone = operator.get(f"/admin/verification/outgoingmessage/{row.pk}/do/retry/")

        assert gone.status_code == 404
        assert entries(acme, "Message.Drop")[0].payload["message_id"] == str(row.pk)

    def test_tenants_are_made_and_deleted_by_their_slug(self, acme, operator):
        path, slug = "tenants/tenant", f"made-{operator.who.pk}"

        operate(operator, path, None, "create", slug=slug, name="Made")
        made = Tenant.objects.get(slug=slug)
        refused = operate(operator, path, made, "delete", slug="another")
        operate(operator, path, made, "delete", slug=slug)

        assert refused.status_code == 400
        assert not Tenant.objects.filter(slug=slug).exists()
        assert Entry.objects.filter(key="Tenant.Delete", payload__slug=slug, tenant_id="default").exists()

    def test_administrators_are_made_changed_and_deleted(self, acme, operator):
        path, name = "administrators/administrator", f"new-{operator.who.pk}"

        typed = {"username": name, "password": PASSWORD, "role": "support", "current_password": PASSWORD}
        refused = operate(operator, path, None, "create", **typed, tenants="nowhere")
        operate(operator, path, None, "create", **typed, tenants=acme.tenant.slug)
        made = Administrator.objects.get(username=name)
        wanted = {"email": "new@acme.example", "role": "auditor", "tenants": ""}
        operate(operator, path, made, "change", **wanted, current_password=PASSWORD)

        assert refused.status_code == 400
        assert "unknown: nowhere" in refused.text
        made.refresh_from_db()
        assert (made.email, made.role, made.tenants.count()) == ("new@acme.example", "auditor", 0)
        operate(operator, path, made, "delete")
        assert not Administrator.objects.filter(pk=made.pk).exists()


class TestAudit:
    def test_is_narrowed_by_key_result_and_user(self, acme, operator):
        user = acme.user("ada")
        acme.browser().sign_in(user)
        acme.browser().sign_in(user, "wrong")

        failed = operator.get("/admin/audit/entry/?key=SignIn.Password&result=failed").text
        of_user = operator.get(f"/admin/audit/entry/?user_id={user.pk}").text

        assert failed.count('class="field-key"') == 1
        assert "invalid_credentials" in failed
        assert of_user.count('class="field-key"') == 1

    def test_a_reference_explains_a_refusal_in_whatever_tenant_it_was(self, acme, rival, operator):
        answer = acme.browser().sign_in(acme.user("ada"), "wrong")
        reference = answer.headers["X-Request-Id"]

        told = operator.get("/admin/why/", params={"reference": reference}).text
        elsewhere = operators.at(rival).get("/admin/why/", params={"reference": reference}).text
        limited = operators.at(rival, administrator(tenants=[rival.tenant.slug]))
        unseen = limited.get("/admin/why/", params={"reference": reference}).text

        sentence = "Sign-in with a password failed: the identifier or the password is wrong."
        assert sentence in told
        assert "Work there" not in told
        assert sentence in elsewhere
        assert f"In the log of <strong>{acme.tenant.name}</strong>" in elsewhere
        assert "has anything by this reference" in unseen

    @pytest.mark.parametrize(
        "reference",
        [
            "x",
            "ffffffff-ffff-7fff-bfff-ffffffffffff",
            "00000000-0000-7000-8000-000000000000",
            "1" * 500,
        ],
    )
    def test_a_reference_that_is_none_finds_nothing(self, operator, reference):
        answer = operator.get("/admin/why/", params={"reference": reference})

        assert answer.status_code == 200
        assert "has anything by this reference" in answer.text

    def test_is_taken_along_as_a_table_of_this_tenant(self, acme, rival, operator):
        acme.user("=1+1")
        rival.user("somebody-else")
        with (
            acme.active(),
            context.request(ip="=cmd", user_agent="", request_id=""),
            context.tenant(acme.tenant.pk),
        ):
            log.record(Event.USER_EXPORT, id="x")

        answer = operator.get("/admin/audit/entry/export/")

        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert {row["key"] for row in rows} >= {"User.Create", "Tenant.Create"}
        assert [row["ip"] for row in rows if row["key"] == "User.Export"] == ["'=cmd"]
        assert "somebody-else" not in answer.text
        assert len(rows) == Entry.objects.filter(tenant_id=acme.tenant.pk).count()

    def test_keeps_the_filters_of_the_list(self, acme, operator):
        acme.user()

        rows = list(
            csv.DictReader(io.StringIO(operator.get("/admin/audit/entry/export/?key=User.Create").text))
        )

        assert [row["key"] for row in rows] == ["User.Create"]


class TestDashboard:
    def test_counts_what_happened_in_this_tenant(self, acme, rival, operator):
        user = acme.user("ada")
        browser = acme.browser()
        client = acme.application()
        client.redeem(browser.code_for(client, user))
        acme.browser().sign_in(user, "wrong")
        rival.browser().sign_in(rival.user("eve"))

        shown = operator.get("/admin/").text

        numbers = dict(re.findall(r"<span>([^<]+)</span> <strong>(\d+)</strong>", shown))
        assert numbers == {
            "Sign-ins": "1",
            "Failed sign-ins": "1",
            "New users": "1",
            "Active users": "1",
            "Tokens by grant": "1",
        }
        assert "Authorization code" in shown
        assert "Sign-in with a password failed" in shown
        assert "style=" not in shown

    def test_is_there_for_a_tenant_where_nothing_happened(self, operator):
        assert "Nothing failed lately." in operator.get("/admin/").text


class TestRoles:
    def test_an_auditor_reads_everything_and_changes_nothing(self, acme):
        furnish(acme)
        operator = operators.at(acme, administrator(role="auditor", is_superuser=True))
        shown = operator.get("/admin/users/user/").text
        token = management._signed_in(operator.who.username, PASSWORD, acme.address)
        caller = management.Caller(acme, token)

        for kind in pages():
            page = operator.get(address_of(kind), follow_redirects=True)
            assert page.status_code == 200
            assert "/do/" not in page.text
            for operation in getattr(kind, "all_operations", list)():
                parts = (first_of(kind, acme).pk,) if operation.row_needed else ()
                assert operator.get(address_of(kind, *parts, "do", operation.name)).status_code == 403
        assert "New user" not in shown
        assert caller.get("/users").status_code == 200
        assert operator.get("/admin/audit/entry/export/").status_code == 200
        for path in ("/users", "/applications", "/signing-keys/rotate"):
            refusal = management.refusal_of(caller.post(path, name="x"), 403)
            assert refusal == "the role auditor does not allow this"

    def test_support_changes_users_and_nothing_else(self, acme):
        user, client = acme.user(), acme.application()
        operator = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))
        token = management._signed_in(operator.who.username, PASSWORD, acme.address)
        caller = management.Caller(acme, token)

        assert operate(operator, "users/user", user, "suspend").status_code == 302
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
            with pytest.raises(administrators.LastSuperuser), tenancy.using(tenancy.DEFAULT):
                administrators.change(who, {"role": "support"})
            transaction.set_rollback(True)

    def test_who_is_no_administrator_by_role_makes_none(self, acme):
        operator = operators.at(acme, administrator(role="auditor", is_superuser=True))
        token = management._signed_in(operator.who.username, PASSWORD, configured.BASE_URL)
        root = management.Caller(cast.default_world(), token)

        assert root.get("/administrators").status_code == 200
        assert root.patch(f"/administrators/{operator.who.pk}", role="administrator").status_code == 403

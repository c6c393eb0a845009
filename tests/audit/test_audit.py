"""The audit log: what is written down, by whom it can be changed (nobody), and what never gets in."""

import json
import secrets
from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx
import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import DatabaseError, connection, transaction
from django.test import Client

from audit import context, log, triggers
from audit.events import Event
from audit.models import AppendOnly, Entry
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.limits.models import Counter
from identity.sessions.models import Session
from identity.tenants import services as tenants
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from management.administrators import services as administrators
from oidc.applications import services as applications
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support import cast
from tests.support.cast import CALLBACK, PASSWORD
from tests.support.forms import form
from tests.support.independent import claims_of, header_of
from tests.support.threads import at_once

AGENT = "Mozilla/5.0 (test)"
SIGN_IN = "/api/interaction/sign-in"


def entries(world, key=None):
    """The entries of a tenant, oldest first."""
    found = Entry.objects.filter(tenant_id=world.tenant.pk).order_by("created_at", "id")
    return list(found.filter(key=key) if key else found)


def last(world, key):
    return entries(world, key)[-1]


class TestEntries:
    """A1: each thing, with the right key, who, from where, in which tenant."""

    def test_sign_in(self, acme):
        user, browser = acme.user(), acme.browser()

        answer = browser.post(
            SIGN_IN,
            json={"identifier": user.username, "password": PASSWORD},
            headers={"User-Agent": AGENT},
        )

        [entry] = entries(acme, "SignIn.Password")
        session_id = entry.payload.pop("session_id")
        assert UUID(session_id).version == 7
        assert entry.payload == {"username": user.username, "result": "success"}
        assert (entry.user_id, entry.application_id) == (str(user.pk), None)
        assert (entry.ip, entry.user_agent) == ("127.0.0.1", AGENT)
        assert entry.request_id == answer.headers["X-Request-Id"]
        assert abs(entry.created_at - datetime.now(UTC)) < timedelta(minutes=1)

    def test_sign_in_for_an_application(self, acme):
        client, user = acme.application(), acme.user()

        tokens = client.tokens_for(user)

        [entry] = entries(acme, "SignIn.Password")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        assert entry.payload["session_id"] == claims_of(tokens["id_token"])["sid"]

    @pytest.mark.parametrize(
        ("identifier", "error"),
        [("{user}", "invalid_credentials"), ("nobody", "invalid_credentials"), ("{suspended}", "suspended")],
    )
    def test_case_N03_a_failed_sign_in(self, acme, identifier, error):
        user, suspended = acme.user(), acme.user()
        with acme.active():
            users.suspend(suspended)
        typed = identifier.format(user=user.username, suspended=suspended.username)

        acme.browser().post(
            SIGN_IN,
            json={"identifier": typed, "password": PASSWORD if error == "suspended" else "wrong password"},
        )

        [entry] = entries(acme, "SignIn.Password")
        if typed == "nobody":
            said = {"username": f"hash:{entry.identifier_key}", "identifier_type": "username"}
        else:
            said = {"username": typed}
        assert entry.payload == {**said, "result": "failed", "error": error}
        assert entry.user_id is None

    def test_a_failed_sign_in_at_the_page_is_the_same_entry(self, acme):
        browser = acme.browser()

        form(browser.get("/sign-in")).submit(browser, identifier="nobody", password="wrong password")

        [entry] = entries(acme, "SignIn.Password")
        said = {"username": f"hash:{entry.identifier_key}", "identifier_type": "username"}
        assert entry.payload == {**said, "result": "failed", "error": "invalid_credentials"}

    def test_exchange_of_a_code(self, acme):
        client, user = acme.application(), acme.user()

        tokens = client.tokens_for(user, scope="openid email")

        [entry] = entries(acme, "Token.Exchange")
        assert entry.payload == {
            "grant_type": "authorization_code",
            "result": "success",
            "scope": "openid email",
            "kid": header_of(tokens["access_token"])["kid"],
            "access_token_exp": claims_of(tokens["access_token"])["exp"],
            "id_token_exp": claims_of(tokens["id_token"])["exp"],
        }
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_client_credentials(self, acme):
        machine = acme.application("MachineToMachine")

        machine.token(grant_type="client_credentials")

        [entry] = entries(acme, "Token.Exchange")
        assert (entry.payload["grant_type"], entry.payload["result"]) == ("client_credentials", "success")
        assert (entry.user_id, entry.application_id) == (None, str(machine.application.pk))

    def test_refresh(self, acme):
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)

        client.refresh(tokens["refresh_token"])

        [entry] = entries(acme, "Token.Refresh")
        assert (entry.payload["grant_type"], entry.payload["result"]) == ("refresh_token", "success")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    @pytest.mark.parametrize("kind", ["refresh_token", "access_token"])
    def test_revocation(self, acme, kind):
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)

        acme.post("/oidc/revoke", data={"token": tokens[kind]}, auth=client.basic)

        [entry] = entries(acme, "Token.Revoke")
        assert (entry.payload["result"], entry.payload["reason"]) == ("success", "revoked")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_revocation_by_a_stranger(self, acme):
        client = acme.application()

        acme.post("/oidc/revoke", data={"token": "x"}, auth=(client.client_id, "wrong secret"))

        [entry] = entries(acme, "Token.Revoke")
        assert entry.payload == {
            "result": "failed",
            "error": "invalid_client",
            "client_id": client.client_id,
        }

    @pytest.mark.parametrize(
        ("changes", "error"),
        [
            ({"code": "wrong"}, "invalid_grant"),
            ({"code_verifier": "w" * 43}, "invalid_grant"),
            ({"redirect_uri": "https://rp.example/other"}, "invalid_grant"),
            ({"resource": "https://api.example"}, "invalid_request"),
        ],
    )
    def test_a_refused_exchange(self, acme, changes, error):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)

        answer = client.redeem(**({"code": code} | changes))

        [entry] = entries(acme, "Token.Exchange")
        assert answer.json()["error"] == error
        assert (entry.payload["result"], entry.payload["error"]) == ("failed", error)
        assert entry.payload["grant_type"] == "authorization_code"
        assert entry.application_id == str(client.application.pk)

    def test_an_exchange_by_an_unknown_client(self, acme):
        acme.post(
            "/oidc/token",
            data={"grant_type": "client_credentials"},
            auth=("no-such-client", "no-such-secret"),
        )

        [entry] = entries(acme, "Token.Exchange")
        assert (entry.payload["result"], entry.payload["error"]) == ("failed", "invalid_client")
        assert entry.payload["client_id"] == "no-such-client"
        assert entry.application_id is None

    def test_decision_O7_a_replayed_code_says_why_the_family_ended(self, acme):
        client, user = acme.application(), acme.user()
        code = acme.browser().code_for(client, user)
        client.redeem(code)

        client.redeem(code)

        [revoked] = entries(acme, "Token.Revoke")
        assert revoked.payload["reason"] == "code_reused"
        assert [entry.payload["result"] for entry in entries(acme, "Token.Exchange")] == ["success", "failed"]

    def test_consent(self, acme):
        client, user = acme.application(is_third_party=True), acme.user()
        browser = acme.browser()
        browser.sign_in(user)
        asked = browser.get(browser.authorize(client, scope="openid email").headers["Location"])

        form(asked).submit(browser, choice="allow")

        [entry] = entries(acme, "Consent.Grant")
        assert entry.payload == {"scopes": ["openid", "email"]}
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_end_of_a_session(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)

        browser.get(
            "/oidc/end-session",
            params={"id_token_hint": tokens["id_token"]},
            headers={"User-Agent": AGENT},
        )

        [entry] = entries(acme, "Session.End")
        assert entry.payload == {"session_id": claims_of(tokens["id_token"])["sid"]}
        assert (entry.user_id, entry.user_agent) == (str(user.pk), AGENT)

    def test_what_is_done_to_keys_users_and_applications(self, acme):
        with acme.active():
            old = SigningKey.objects.get()
            new = keys.rotate()
            keys.remove(old)
            user = users.create(username="alice", password=PASSWORD)
            users.suspend(user)
            credentials.set_password(user, "another password")
            user_id = str(user.pk)
            users.remove(user)
            application, _ = applications.register(name="App", type="Traditional", redirect_uris=[CALLBACK])
            applications.change(application, {"redirect_uris": [CALLBACK]})
            applications.rotate_secret(application)
            application_id = str(application.pk)
            applications.remove(application)

        # tests/security/attacks/test_console_log.py has which fields and values are kept beside these.
        beside = {"fields", "values", "before"}
        written = [
            (
                entry.key,
                {name: value for name, value in entry.payload.items() if name not in beside},
                entry.application_id,
            )
            for entry in entries(acme)
        ]

        assert written == [
            ("Tenant.Create", {"slug": acme.tenant.slug, "name": "Acme"}, None),
            ("SigningKey.Rotate", {"kid": str(new.pk)}, None),
            ("SigningKey.Delete", {"kid": str(old.pk)}, None),
            ("User.Create", {"id": user_id, "username": "alice"}, None),
            ("User.Update", {"id": user_id}, None),
            ("User.Update", {"id": user_id}, None),
            ("User.Delete", {"id": user_id, "username": "alice"}, None),
            ("Application.Create", {"id": application_id, "name": "App", "type": "Traditional"}, None),
            ("Application.Update", {"id": application_id}, None),
            ("Application.Update", {"id": application_id}, None),
            ("Application.Delete", {"id": application_id, "name": "App"}, None),
        ]
        assert [entry.payload["fields"] for entry in entries(acme) if entry.key.endswith(".Update")] == [
            ["is_suspended"],
            ["password"],
            ["redirect_uris"],
            ["client_secret"],
        ]

    def test_decision_T4_what_belongs_to_no_tenant_is_filed_under_default(self, address):
        made = administrators.create(username=f"a-{secrets.token_hex(4)}", password=PASSWORD)

        entry = Entry.objects.get(key="Administrator.Create", payload__id=made.pk)

        assert entry.tenant_id == "default"
        assert entry.payload == {
            "id": made.pk,
            "username": made.username,
            "fields": ["password", "role", "username"],
            "values": {"is_superuser": False, "role": "administrator", "tenants": []},
        }

    def test_outside_of_a_request_there_is_no_address(self, acme):
        with acme.active():
            keys.rotate()

        entry = last(acme, "SigningKey.Rotate")

        assert (entry.ip, entry.user_agent, entry.request_id) == ("", "", "")

    def test_every_key_of_the_interface_is_spelt_as_it_says(self):
        spelt = {event.value for event in Event}

        assert spelt >= {
            *("SignIn.Password", "Token.Exchange", "Token.Refresh", "Token.Revoke", "Admin.SignIn"),
            *("SigningKey.Rotate", "SigningKey.Delete", "Session.End", "Consent.Grant"),
        }
        assert all(value.count(".") == 1 for value in spelt - {"ForgotPassword"})

    def test_each_request_has_an_id_of_its_own_and_says_it(self, acme):
        ids = {acme.get("/.well-known/jwks.json").headers["X-Request-Id"] for _ in range(5)}

        assert len(ids) == 5
        assert {UUID(text).version for text in ids} == {7}

    def test_a_client_cannot_choose_the_id(self, acme):
        answer = acme.get("/sign-in", headers={"X-Request-Id": "chosen"})

        assert answer.headers["X-Request-Id"] != "chosen"


class Broken(ServiceError):
    reason = "broken_on_purpose"


class TestTransactions:
    """An entry is true when its transaction is; a failure's entry survives it."""

    def test_case_N02_a_rollback_takes_the_entry_along(self, acme):
        def work():
            with transaction.atomic():
                log.record(Event.USER_CREATE, id="never")
                raise Broken

        with acme.active(), pytest.raises(Broken):
            work()

        assert not entries(acme, "User.Create")

    def test_an_attempt_that_fails_is_written_after_the_rollback(self, acme):
        def attempt():
            with log.attempt(Event.SIGN_IN_PASSWORD, username="alice") as entry, transaction.atomic():
                log.record(Event.USER_UPDATE, id="never")
                entry.succeeded()
                raise Broken

        with acme.active(), pytest.raises(Broken):
            attempt()

        assert not entries(acme, "User.Update")
        [entry] = entries(acme, "SignIn.Password")
        assert entry.payload == {"username": "alice", "result": "failed", "error": "broken_on_purpose"}

    def test_a_fault_of_ours_is_a_server_error(self, acme):
        def attempt():
            with log.attempt(Event.SIGN_IN_PASSWORD, username="alice"):
                raise ZeroDivisionError

        with acme.active(), pytest.raises(ZeroDivisionError):
            attempt()

        assert last(acme, "SignIn.Password").payload["error"] == "server_error"

    def test_an_attempt_ends_with_exactly_one_entry(self, acme):
        with acme.active(), log.attempt(Event.SIGN_IN_PASSWORD, username="alice") as entry:
            entry.succeeded()
        with acme.active(), log.attempt(Event.SIGN_IN_PASSWORD, username="bob"):
            pass

        written = [entry.payload for entry in entries(acme, "SignIn.Password")]
        assert written == [
            {"username": "alice", "result": "success"},
            {"username": "bob", "result": "success"},
        ]

    @pytest.mark.parametrize(("step", "before"), [("new", 0), ("start", 1)])
    def test_a_sign_in_that_breaks_at_its_end_leaves_a_failure_and_no_session(
        self, acme, monkeypatch, step, before
    ):
        """Over the journey itself, in a new browser and in one in which the person is: what breaks late."""

        def broken(*_, **__):
            raise Broken

        user, browser = acme.user(), Client()
        sent = {"identifier": user.username, "password": PASSWORD}
        for _ in range(before):
            browser.post(f"/t/{acme.tenant.slug}{SIGN_IN}", sent, "application/json")
        monkeypatch.setattr(f"interaction.journeys.sign_in.sessions.{step}", broken)
        answer = browser.post(f"/t/{acme.tenant.slug}{SIGN_IN}", sent, "application/json")

        assert answer.status_code == 400
        [*_, entry] = sorted(entries(acme, "SignIn.Password"), key=lambda each: each.created_at)
        assert (entry.payload["result"], entry.payload["error"]) == ("failed", "broken_on_purpose")
        with acme.active():
            assert Session.objects.count() == before
            assert User.objects.get(pk=user.pk).login_count == before

    def test_a_sign_in_that_a_suspension_overtakes_leaves_a_failure_and_is_no_wrong_guess(
        self, acme, monkeypatch
    ):
        user = acme.user()
        authenticate = credentials.authenticate

        def overtaken(**given):
            found = authenticate(**given)
            User.objects.filter(pk=user.pk).update(is_suspended=True)
            return found

        monkeypatch.setattr("interaction.journeys.sign_in.credentials.authenticate", overtaken)
        answer = Client().post(
            f"/t/{acme.tenant.slug}{SIGN_IN}",
            {"identifier": user.username, "password": PASSWORD},
            "application/json",
        )

        assert answer.status_code == 403
        [entry] = entries(acme, "SignIn.Password")
        assert entry.payload == {"username": user.username, "result": "failed", "error": "suspended"}
        with acme.active():
            assert not Session.objects.exists()
            assert not Counter.objects.filter(kind__in=["pair", "identifier"], count__gt=0).exists()

    def test_entries_at_the_same_moment_are_all_kept(self, acme):
        def work(index):
            with acme.active():
                log.record(Event.USER_UPDATE, id=str(index))

        at_once(8, work)

        assert {entry.payload["id"] for entry in entries(acme, "User.Update")} == {str(n) for n in range(8)}


class TestWhatIsKeptOfText:
    @pytest.mark.parametrize(
        ("given", "kept"),
        [
            ("x" * 1_000, "x" * 256),
            ("a\0b", "ab"),
            ("a\ud800b", "a?b"),
            ("line\r\nbreak", "line\r\nbreak"),
            ("\x1b[31m", "\x1b[31m"),
            ('"; DROP TABLE audit_entry; --', '"; DROP TABLE audit_entry; --'),
            ("\U0001f600" * 300, "\U0001f600" * 256),
        ],
    )
    def test_case_K05_text_from_outside_is_tamed(self, acme, given, kept):
        with acme.active():
            log.record(Event.SIGN_IN_PASSWORD, username=given)

        assert last(acme, "SignIn.Password").payload == {"username": kept}

    def test_case_K05_a_user_agent_is_cut(self, acme):
        acme.browser().post(
            SIGN_IN, json={"identifier": "x", "password": "y"}, headers={"User-Agent": "a" * 4_000}
        )

        assert last(acme, "SignIn.Password").user_agent == "a" * 512

    def test_case_K05_a_user_agent_of_odd_bytes_is_kept(self, acme):
        answer = acme.browser().post(
            SIGN_IN,
            json={"identifier": "x", "password": "y"},
            headers={"User-Agent": "M\u00fcller \u00a7".encode("latin-1")},
        )

        assert answer.status_code == 401
        assert last(acme, "SignIn.Password").user_agent.startswith("M\u00fcller")

    def test_a_user_agent_may_be_missing(self, acme):
        with httpx.Client() as http:
            del http.headers["User-Agent"]
            http.post(f"{acme.address}{SIGN_IN}", json={"identifier": "x", "password": "y"})

        assert last(acme, "SignIn.Password").user_agent == ""

    def test_case_K05_a_path_cannot_forge_a_line_of_the_server_log(self, acme):
        mark = secrets.token_hex(8)

        httpx.get(f"{acme.address}/nothing%0d%0aFORGED-{mark}%1b[31m")
        httpx.get(f"{acme.address}/api/nothing%0aFORGED-{mark}")

        lines = (configured.VAR / "server.log").read_text(errors="replace").splitlines()
        forged = [line for line in lines if line.lstrip().startswith(f"FORGED-{mark}")]
        assert forged == []


MODEL_CHANGES = {
    "update": lambda _: Entry.objects.update(key="User.Delete"),
    "filtered update": lambda entry: Entry.objects.filter(pk=entry.pk).update(payload={}),
    "delete": lambda _: Entry.objects.all().delete(),
    "filtered delete": lambda entry: Entry.objects.filter(pk=entry.pk).delete(),
    "delete one": lambda entry: entry.delete(),
    "save": lambda entry: entry.save(),
    "save fields": lambda entry: entry.save(update_fields=["payload"]),
    "force update": lambda entry: Entry(pk=entry.pk, key="User.Delete").save(force_update=True),
    "same id again": lambda entry: Entry(pk=entry.pk, key="User.Delete", tenant_id="default").save(),
    "bulk update": lambda entry: Entry.objects.bulk_update([entry], ["key"]),
    "update or create": lambda entry: Entry.objects.update_or_create({"key": "User.Delete"}, pk=entry.pk),
    "upsert": lambda entry: Entry.objects.bulk_create(
        [Entry(pk=entry.pk, key="User.Delete", tenant_id="x")],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["key"],
    ),
    "base manager update": lambda entry: Entry._base_manager.filter(pk=entry.pk).update(key="User.Delete"),
    "base manager delete": lambda entry: Entry._base_manager.filter(pk=entry.pk).delete(),
    "raw delete": lambda entry: Entry.objects.filter(pk=entry.pk)._raw_delete("default"),
}

STATEMENTS = {
    "update": "UPDATE audit_entry SET key = 'x'",
    "update one": "UPDATE audit_entry SET payload = '{{}}' WHERE id = '{id}'",
    "update to itself": "UPDATE audit_entry SET key = key WHERE id = '{id}'",
    "delete": "DELETE FROM audit_entry",
    "delete one": "DELETE FROM audit_entry WHERE id = '{id}'",
    "upsert": (
        "INSERT INTO audit_entry (id, tenant_id, key, payload, ip, user_agent, request_id)"
        " VALUES ('{id}', 'x', 'x', '{{}}', '', '', '') ON CONFLICT (id) DO UPDATE SET key = 'x'"
    ),
}
SQLITE = {
    "replace": (
        "INSERT OR REPLACE INTO audit_entry (id, tenant_id, key, payload, ip, user_agent, request_id)"
        " VALUES ('{id}', 'x', 'x', '{{}}', '', '', '')"
    ),
    "replace by row": (
        "REPLACE INTO audit_entry (rowid, id, tenant_id, key, payload, ip, user_agent, request_id)"
        " SELECT rowid, 'another', 'x', 'x', '{{}}', '', '', '' FROM audit_entry WHERE id = '{id}'"
    ),
    "update or replace": "UPDATE OR REPLACE audit_entry SET key = 'x' WHERE id = '{id}'",
    "update or ignore": "UPDATE OR IGNORE audit_entry SET key = 'x' WHERE id = '{id}'",
}
POSTGRESQL = {
    "truncate": "TRUNCATE audit_entry",
    "truncate cascade": "TRUNCATE audit_entry RESTART IDENTITY CASCADE",
    "truncate with others": "TRUNCATE audit_entry, users_user CASCADE",
    "delete using": "DELETE FROM audit_entry USING tenants_tenant",
    "merge": (
        "MERGE INTO audit_entry e USING (SELECT '{id}'::uuid AS id) n ON e.id = n.id WHEN MATCHED THEN DELETE"
    ),
    "in a function": "DO $$ BEGIN DELETE FROM audit_entry; END $$",
}


STATEMENTS |= POSTGRESQL if connection.vendor == "postgresql" else SQLITE


@pytest.fixture
def entry(acme):
    with acme.active():
        log.record(Event.USER_CREATE, id="one", username="alice")
    return last(acme, "User.Create")


def is_as_it_was(entry, count):
    assert Entry.objects.count() == count
    found = Entry.objects.get(pk=entry.pk)
    assert (found.key, found.payload) == ("User.Create", {"id": "one", "username": "alice"})


class TestAppendOnly:
    """A2: nobody changes or deletes an entry."""

    @pytest.mark.parametrize("change", MODEL_CHANGES)
    def test_case_N01_not_by_the_orm(self, entry, change):
        count = Entry.objects.count()

        with pytest.raises((AppendOnly, DatabaseError, ValueError)), transaction.atomic():
            MODEL_CHANGES[change](entry)

        is_as_it_was(entry, count)

    @pytest.mark.parametrize("change", STATEMENTS)
    def test_case_N01_not_by_sql(self, entry, change):
        count = Entry.objects.count()
        text = STATEMENTS[change].format(id=entry.pk.hex if connection.vendor == "sqlite" else str(entry.pk))

        with connection.cursor() as cursor, pytest.raises(DatabaseError, match="append-only"):
            cursor.execute(text)

        is_as_it_was(entry, count)

    def test_entries_are_still_written(self, acme, entry):
        with acme.active():
            log.record(Event.USER_CREATE, id="two")

        assert len(entries(acme, "User.Create")) == 2

    def test_nor_when_the_tenant_is_deleted(self, rival):
        pk = rival.tenant.pk

        rival.tenant.delete()

        assert Entry.objects.filter(tenant_id=pk, key="Tenant.Create").exists()

    def test_no_endpoint_reaches_it(self):
        rows = (configured.BASE_DIR / "docs/endpoints.tsv").read_text().splitlines()[1:]
        written = [row for row in rows if "/logs" in row and not row.startswith("GET\t")]

        assert written == []


class TestTriggers:
    @pytest.fixture(autouse=True)
    def _always_there_again(self, address):
        yield
        triggers.APPEND_ONLY.install(connection)

    def drop(self, name):
        table = " ON audit_entry" if connection.vendor == "postgresql" else ""
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER {name}{table}")

    def names(self):
        return sorted(triggers.APPEND_ONLY.names(connection.vendor))

    def test_the_check_is_content_while_they_are_there(self):
        assert triggers.APPEND_ONLY.missing(connection) == set()

        call_command("check", databases=["default"])

    def test_the_check_fails_without_any_one_of_them(self):
        for name in self.names():
            self.drop(name)

            with pytest.raises(SystemCheckError, match=f"audit.E001.*{name}"):
                call_command("check", databases=["default"])
            triggers.APPEND_ONLY.install(connection)

    def test_migrate_makes_them_again(self, entry):
        for name in self.names():
            self.drop(name)
        assert triggers.APPEND_ONLY.missing(connection) == set(self.names())

        call_command("migrate", verbosity=0, interactive=False)

        assert triggers.APPEND_ONLY.missing(connection) == set()
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            Entry._base_manager.filter(pk=entry.pk).update(key="x")

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite cannot switch a trigger off")
    def test_a_trigger_that_is_switched_off_is_missing(self):
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_no_change")
        try:
            assert triggers.APPEND_ONLY.missing(connection) == {"audit_entry_no_change"}
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ALTER TABLE audit_entry ENABLE TRIGGER audit_entry_no_change")


class Journey:
    """Somebody does everything there is, and remembers every secret of it."""

    def __init__(self, acme):
        self.acme = acme
        self.secrets = {"password": f"canary-{secrets.token_hex(12)}"}
        self.browser = acme.browser()
        self.go()

    def keep(self, name, value):
        assert value, name
        self.secrets[name] = value
        return value

    def go(self):
        acme, password = self.acme, self.secrets["password"]
        self.administrate()
        user = acme.user(password=password)
        client, machine = acme.application(), acme.application("MachineToMachine")
        self.keep("client secret", client.secret)
        self.keep("machine secret", machine.secret)
        self.keep("verifier", client.verifier)
        self.fail(user, client)
        answer = self.browser.authorize(client)
        interaction = cast.query_of(answer.headers["Location"])["interaction"]
        signed_in = self.browser.sign_in(user, password, interaction=interaction)
        for name, value in self.browser.http.cookies.items():
            self.keep(f"cookie {name}", value)
        answer = self.browser.get(signed_in.json()["result"]["redirect_to"])
        code = self.keep("code", cast.query_of(answer.headers["Location"])["code"])
        tokens = client.redeem(code).json()
        for name in ("access_token", "refresh_token", "id_token"):
            self.keep(name, tokens[name])
        refreshed = client.refresh(tokens["refresh_token"]).json()
        for name in ("access_token", "refresh_token", "id_token"):
            self.keep(f"refreshed {name}", refreshed[name])
        self.keep("machine token", machine.token(grant_type="client_credentials").json()["access_token"])
        client.userinfo(refreshed["access_token"])
        acme.get("/oidc/userinfo", params={"access_token": refreshed["access_token"]})
        client.redeem(code)  # a replay
        for token in (refreshed["access_token"], refreshed["refresh_token"]):
            acme.post("/oidc/revoke", data={"token": token}, auth=client.basic)
        acme.get("/oidc/revoke", params={"token": refreshed["refresh_token"]})
        acme.get("/oidc/token", params={"code": code, "client_secret": client.secret})
        self.browser.get("/oidc/end-session", params={"id_token_hint": refreshed["id_token"]})
        with acme.active():
            credentials.set_password(user, self.keep("new password", f"canary-{secrets.token_hex(12)}"))
            self.keep("rotated secret", applications.rotate_secret(client.application))

    def administrate(self):
        password = self.keep("administrator's password", f"canary-{secrets.token_hex(12)}")
        made = administrators.create(username=f"a-{secrets.token_hex(4)}", password=password)
        for tried in (password, "canary-wrong-password"):
            answer = httpx.post(
                f"{configured.BASE_URL}/api/admin/sign-in",
                json={"username": made.username, "password": tried},
            )
            if answer.status_code == 200:
                token = self.keep("administrator token", answer.json()["result"]["access_token"])
        httpx.get(f"{configured.BASE_URL}/api/admin/me", headers={"Authorization": f"Bearer {token}x"})

    def fail(self, user, client):
        wrong = self.keep("wrong password", f"canary-{secrets.token_hex(12)}")
        self.browser.sign_in(user, wrong)
        secret = self.keep("wrong secret", f"canary-{secrets.token_hex(12)}")
        client.token(grant_type="client_credentials", auth=(client.client_id, secret))
        client.token(
            grant_type="authorization_code", auth=None, client_id=client.client_id, client_secret=secret
        )
        code = self.keep("wrong code", f"canary-{secrets.token_hex(12)}")
        client.redeem(code)
        client.refresh(self.keep("wrong refresh token", f"canary-{secrets.token_hex(12)}"))

    def found_in(self, text):
        """The names of the secrets that stand in a text, whole or by the part that is secret."""
        return [name for name, value in self.secrets.items() if value in text or value[-40:] in text]


@pytest.fixture(scope="module")
def journey(address):
    return Journey(cast.new_world("Canary"))


class TestNoSecretIsWrittenDown:
    def test_the_scan_would_find_one(self, journey):
        assert len(journey.secrets) > 20
        for name, value in journey.secrets.items():
            assert name in journey.found_in(f"… {value} …")

    def test_case_N04_not_in_any_entry(self, journey):
        text = json.dumps(list(Entry.objects.values_list("payload", "user_agent", "ip")))

        assert text.count("SignIn") or Entry.objects.filter(tenant_id=journey.acme.tenant.pk).count() > 10
        assert journey.found_in(text) == []

    def test_case_K06_not_in_the_log_of_the_server(self, journey):
        # A line that proves that what the journey made the server say is in here.
        text = (configured.VAR / "server.log").read_text(errors="replace")

        assert "/oidc/" in text
        assert journey.found_in(text) == []

    def test_case_K07_not_in_any_table(self, journey):
        found = {}
        with connection.cursor() as cursor:
            for table in connection.introspection.table_names(cursor):
                cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - our own tables
                rows = cursor.fetchall()
                if names := journey.found_in("\n".join(map(repr, rows))):
                    found[table] = names

        assert found == {}

    def test_decision_A1_everything_the_journey_did_is_in_the_log(self, journey):
        written = {entry.key for entry in entries(journey.acme)}

        assert written >= {
            *("SignIn.Password", "Token.Exchange", "Token.Refresh", "Token.Revoke", "Session.End"),
            *("User.Create", "User.Update", "Application.Create", "Application.Update", "Tenant.Create"),
        }


class TestContext:
    def test_blocks_nest_and_end(self):
        before = context.current()
        with (
            context.request(ip="192.0.2.1", user_agent="x", request_id="r"),
            context.tenant("t"),
        ):
            assert context.current() == context.Origin("t", ip="192.0.2.1", user_agent="x", request_id="r")

        assert context.current() == before

    def test_a_tenant_made_on_the_way_has_its_own_first_entry(self, acme):
        slug = f"t-{secrets.token_hex(4)}"
        with acme.active():
            made = tenants.provision(slug=slug, name="Inner")

        [entry] = Entry.objects.filter(tenant_id=made.pk)
        assert entry.key == "Tenant.Create"
        assert not [e for e in entries(acme, "Tenant.Create") if e.payload["slug"] == slug]

    def test_everywhere_is_filed_under_default(self):
        with tenancy.using(tenancy.EVERYWHERE):
            assert context.current().tenant_id == "default"

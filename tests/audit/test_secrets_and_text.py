"""No secret gets into the audit log, and text from outside is tamed."""

import json
import secrets

import httpx
import pytest
from django.conf import settings as configured
from django.db import connection

from audit import log
from audit.events import Event
from audit.models import Entry
from identity.users import assigned_passwords
from management.administrators import services as administrators
from oidc.applications import services as applications
from tests.support import cast
from tests.support.audit_log import SIGN_IN, entries, last


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
            assigned_passwords.set_password(
                user, self.keep("new password", f"canary-{secrets.token_hex(12)}"), is_proven=True
            )
            self.keep("rotated secret", applications.rotate_secret(client.application, is_proven=True))

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

"""What the audit log writes down of each thing: the key, who, from where, and in which tenant."""

import secrets
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from audit import context
from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.tenants import services as tenants
from identity.users import assigned_passwords
from identity.users import services as users
from management.administrators import services as administrators
from oidc.applications import services as applications
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support.audit_log import SIGN_IN, entries, last
from tests.support.cast import CALLBACK, PASSWORD
from tests.support.forms import form
from tests.support.independent import claims_of, header_of

AGENT = "Mozilla/5.0 (test)"


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
            assigned_passwords.set_password(user, "another password", is_proven=True)
            user_id = str(user.pk)
            users.remove(user)
            application, _ = applications.register(name="App", type="Traditional", redirect_uris=[CALLBACK])
            applications.change(application, {"redirect_uris": []}, is_proven=True)
            applications.rotate_secret(application, is_proven=True)
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
            ("SigningKey.Rotate", {"kid": str(new.pk), "algorithm": "ES256"}, None),
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


class TestContext:
    def test_blocks_nest_and_end(self):
        before = context.current()
        with (
            context.new_request(ip="192.0.2.1", user_agent="x", request_id="r"),
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

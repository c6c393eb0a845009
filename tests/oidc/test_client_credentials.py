"""The grant of applications that act in their own name."""

import pytest

from audit.models import Entry
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support.independent import bearer, claims_of, header_of, key_set, verified
from tests.support.refusals import refusal


def granted(client, **form):
    answer = client.token(grant_type="client_credentials", **form)
    assert answer.status_code == 200, answer.text
    return answer.json()


class TestClientCredentials:
    def test_case_C13_gives_an_access_token_and_nothing_else(self, acme):
        machine = acme.application("MachineToMachine")

        answer = machine.token(grant_type="client_credentials")

        body = answer.json()
        assert answer.status_code == 200
        assert set(body) == {"access_token", "token_type", "expires_in", "scope"}
        assert (body["token_type"], body["expires_in"], body["scope"]) == ("Bearer", 3600, "")

    def test_decision_O1_the_token_speaks_for_the_application(self, acme):
        machine = acme.application("MachineToMachine")

        token = granted(machine)["access_token"]

        claims = verified(token, key_set(acme))
        assert header_of(token)["typ"] == "at+jwt"
        assert claims["sub"] == claims["client_id"] == machine.client_id
        assert (claims["iss"], claims["aud"]) == (acme.issuer, acme.issuer)
        assert (claims["token_type"], claims["scope"]) == ("m2m", "")
        assert claims["exp"] - claims["iat"] == 3600
        assert not {"sid", "family_id", "organization_id", "organization_is_admin"} & set(claims)

    def test_works_with_the_secret_in_the_body(self, acme):
        machine = acme.application("MachineToMachine")

        body = granted(machine, auth=None, client_id=machine.client_id, client_secret=machine.secret)

        assert claims_of(body["access_token"])["sub"] == machine.client_id

    @pytest.mark.parametrize(
        "scope", ["openid profile offline_access", "all", "manage:organizations", "x" * 5_000, " ", "é"]
    )
    def test_case_C12_grants_no_scope_that_no_role_gives(self, acme, scope):
        body = granted(acme.application("MachineToMachine"), scope=scope)

        assert body["scope"] == claims_of(body["access_token"])["scope"] == ""
        assert set(body) == {"access_token", "token_type", "expires_in", "scope"}

    @pytest.mark.parametrize("type", ["Traditional", "SPA", "Native"])
    def test_case_C11_is_for_machines_only(self, acme, type):  # noqa: A002
        answer = acme.application(type).token(grant_type="client_credentials")

        assert refusal(answer) == (400, "unauthorized_client")

    @pytest.mark.parametrize("grant_type", ["authorization_code", "refresh_token"])
    def test_case_C11_is_all_that_machines_have(self, acme, grant_type):
        machine = acme.application("MachineToMachine")

        answer = machine.token(
            grant_type=grant_type, code="x", refresh_token="x", redirect_uri="https://rp.example/callback"
        )

        assert refusal(answer) == (400, "unauthorized_client")

    def test_is_refused_to_a_machine_that_lost_the_grant(self, acme):
        machine = acme.application("MachineToMachine")
        with acme.active():
            Application.objects.filter(pk=machine.application.pk).update(grant_types=[])

        answer = machine.token(grant_type="client_credentials")

        assert refusal(answer) == (400, "unauthorized_client")

    def test_decision_O3_an_unknown_resource_is_invalid_request(self, acme):
        machine = acme.application("MachineToMachine")

        answer = machine.token(grant_type="client_credentials", resource="https://api.example")

        assert refusal(answer) == (400, "invalid_request")

    def test_decision_O3_an_organization_it_is_not_bound_to_is_unauthorized_client(self, acme):
        machine = acme.application("MachineToMachine")

        answers = [
            machine.token(grant_type="client_credentials", organization_id=guess)
            for guess in ("01890a5d-ac96-774b-bcce-b302099a8057", "not an id", acme.tenant.pk)
        ]

        assert [refusal(answer) for answer in answers] == [(400, "unauthorized_client")] * 3
        assert len({answer.content for answer in answers}) == 1, "it does not tell what exists"

    def test_case_C14_ends_with_the_application(self, acme):
        machine = acme.application("MachineToMachine")
        with acme.active():
            applications.remove(machine.application)

        answer = machine.token(grant_type="client_credentials")

        assert refusal(answer) == (401, "invalid_client")

    def test_whatever_changes_counts_from_the_next_token_on(self, acme):
        """Also for a worker that has just issued one, and knows the application as it was."""
        machine = acme.application("MachineToMachine")
        granted(machine)

        with acme.active():
            application = Application.objects.get(client_id=machine.client_id)
            applications.change(application, {"name": "Renamed"}, is_proven=True)
        granted(machine)
        with acme.active():
            fresh = applications.rotate_secret(application, is_proven=True)
        assert refusal(machine.token(grant_type="client_credentials")) == (401, "invalid_client")
        machine.secret = fresh
        granted(machine)
        with acme.active():
            keys.rotate()
            active = SigningKey.objects.active().get()
        assert header_of(granted(machine)["access_token"])["kid"] == str(active.pk)
        with acme.active():
            applications.remove(application)
        assert refusal(machine.token(grant_type="client_credentials")) == (401, "invalid_client")

    def test_decision_A1_each_token_leaves_one_entry_whatever_happened_between(self, acme):
        machine = acme.application("MachineToMachine")

        granted(machine)
        granted(machine)
        with acme.active():
            keys.rotate()
        granted(machine)

        with acme.active():
            assert Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange").count() == 3

    def test_is_not_given_by_another_tenant(self, acme, rival):
        machine = acme.application("MachineToMachine")

        answer = rival.post("/oidc/token", data={"grant_type": "client_credentials"}, auth=machine.basic)

        assert refusal(answer) == (401, "invalid_client")

    def test_case_F11_its_token_is_nobody_at_userinfo(self, acme):
        token = granted(acme.application("MachineToMachine"), scope="openid")["access_token"]

        answer = acme.get("/oidc/userinfo", headers=bearer(token))

        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]

    def test_decision_A1_is_audited_with_its_grant_type(self, acme):
        machine = acme.application("MachineToMachine")

        token = granted(machine)["access_token"]

        [entry] = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange")
        assert entry.payload["grant_type"] == "client_credentials"
        assert entry.payload["result"] == "success"
        assert (entry.user_id, entry.application_id) == (None, str(machine.application.pk))
        assert machine.secret not in str(entry.payload)
        assert token not in str(entry.payload)


class TestAMistakeOfADeveloper:
    def test_a_request_without_a_client_names_the_missing_parameter(self, acme):
        answer = acme.post("/oidc/token", data={"grant_type": "client_credentials"})

        assert refusal(answer) == (401, "invalid_client")
        assert answer.json()["error_description"] == "The parameter client_id is missing."

    def test_another_grant_type_names_those_of_the_client(self, acme):
        answer = acme.application().token(grant_type="client_credentials")

        assert refusal(answer) == (400, "unauthorized_client")
        description = answer.json()["error_description"]
        assert description == "grant_type must be one of authorization_code, refresh_token for this client."

    def test_a_refresh_without_its_token_names_the_parameter(self, acme):
        answer = acme.application().token(grant_type="refresh_token")

        assert refusal(answer) == (400, "invalid_request")
        assert answer.json()["error_description"] == "The parameter refresh_token is missing."

"""Attacks with the settings of applications: values that no later request can read, and rows without end."""

import json
import re

import pytest

from identity.resources.models import Resource
from identity.roles.models import Role
from oidc.applications.models import Application
from tests.support import operators
from tests.support.admin_pages import operate
from tests.support.audit_log import entries
from tests.support.cast import signed_in
from tests.support.management import administrator, refusal_of, result_of
from tests.support.operators import Operator

HUGE = [2.0**63, -(2.0**63), 1e30, [{"a": 1e308}], 2**80]
MOST_REFUSALS = 10


def constant(value: object) -> dict[str, object]:
    return {"name": "x", "source": {"value": value}, "into": ["access_token"]}


@pytest.fixture
def operator(acme) -> Operator:
    return operators.at(acme)


class TestConstantClaims:
    """AW01: PostgreSQL returned a large constant as an integer that no response can have.

    Each list of applications failed, and each token.
    """

    @pytest.mark.parametrize("value", HUGE)
    def test_attack_AW01_a_huge_constant_is_refused(self, acme, value):
        admin = administrator(acme)
        client = acme.application("MachineToMachine")
        resource = admin.created("/resources", name="Orders", indicator="https://orders.example")
        claims = [constant(value)]

        of_application = admin.patch(
            f"/applications/{client.application.pk}", oidc_client_metadata={"custom_claims": claims}
        )
        of_resource = admin.patch(f"/resources/{resource['id']}", custom_claims=claims)

        assert "custom_claims" in refusal_of(of_application, 400)
        assert "custom_claims" in refusal_of(of_resource, 400)
        assert result_of(admin.get("/applications"))["total"] == 1
        assert client.token(grant_type="client_credentials").status_code == 200

    def test_the_largest_numbers_are_kept(self, acme):
        admin = administrator(acme)
        client = acme.application("MachineToMachine")
        value = [2**64 - 1, -(2**63), 9.0e18, 0.1]

        answer = admin.patch(
            f"/applications/{client.application.pk}",
            oidc_client_metadata={"custom_claims": [constant(value)]},
        )

        assert result_of(answer)["oidc_client_metadata"]["custom_claims"] == [constant(value)]
        assert client.token(grant_type="client_credentials").status_code == 200


class TestFormsWithJson:
    """AW02: the forms of the operators' site took JSON that the management API refuses."""

    @pytest.mark.parametrize(
        "value",
        ["NaN", "-Infinity", "1" * 30, '"\\u0000"', '{"\\u0000": 1}', '"\\ud800"', "[" * 40 + "]" * 40],
    )
    def test_attack_AW02_json_that_no_database_stores_is_refused(self, acme, operator, value):
        client = acme.application()
        with acme.active():
            resource = Resource.objects.create(name="Orders", indicator="https://orders.example")
        typed = json.dumps([constant("VALUE")]).replace('"VALUE"', value)

        answers = [
            operate(operator, "applications/application", client.application, "claims", custom_claims=typed),
            operate(operator, "resources/resource", resource, "claims", custom_claims=typed),
        ]

        assert [answer.status_code for answer in answers] == [400, 400]
        with acme.active():
            resource.refresh_from_db()
            assert Application.objects.get().custom_claims == resource.custom_claims == []

    def test_attack_AW02_deep_json_is_refused(self, acme, operator):
        client = acme.application()

        answer = operate(
            operator, "applications/application", client.application, "claims", custom_claims="[" * 50_000
        )

        assert answer.status_code == 400


class TestRefusedUsers:
    """AW03: a user who may not use an application wrote an audit entry with each of endless requests."""

    def test_attack_AW03_repeated_refusals_leave_ten_entries_an_hour(self, acme):
        with acme.active():
            role = Role.objects.create(name="Staff", type=Role.Type.USER)
        clients = [acme.application(allowed_role_ids=[str(role.pk)]) for _ in range(2)]
        browser, _ = signed_in(acme)
        resumed = browser.authorize(clients[0]).headers["Location"].rpartition("interaction=")[2]

        for _ in range(MOST_REFUSALS):
            browser.get(f"/oidc/authorize/{resumed}")
            browser.authorize(clients[0], prompt="none")

        assert len(entries(acme, "Application.Refuse")) == MOST_REFUSALS
        browser.authorize(clients[1], prompt="none")
        assert len(entries(acme, "Application.Refuse")) == MOST_REFUSALS + 1


class TestContacts:
    """AW05: an address of a contact filled in the message that its link begins."""

    def test_attack_AW05_a_contact_adds_nothing_to_the_message(self, acme):
        client = acme.application()
        contacts = ["help?bcc=all&body=pay@rp.example", "a+b@rp.example"]
        answer = administrator(acme).patch(
            f"/applications/{client.application.pk}", oidc_client_metadata={"contacts": contacts}
        )
        assert result_of(answer)["oidc_client_metadata"]["contacts"] == contacts
        browser, user = signed_in(acme)
        client.tokens_for(user, browser)

        page = browser.get("/account/applications").text

        assert re.findall(r'href="mailto:([^"]+)"', page) == [
            "help%3Fbcc%3Dall%26body%3Dpay@rp.example",
            "a%2Bb@rp.example",
        ]

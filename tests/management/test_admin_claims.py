"""Claims on the operators' site: what applications and resources declare, and the preview (P14)."""

import json

import pytest

from identity.resources.models import Resource
from identity.roles.models import Role
from oidc.applications.models import Application
from tests.support.admin_pages import operate
from tests.support.management import superuser

CLAIM = {"name": "plan", "source": "user.custom_data.plan", "into": ["id_token", "access_token"]}


@pytest.fixture
def client(acme):
    return acme.application()


def page_of(operator, kind, row):
    return operator.get(f"/admin/{kind}/{row.pk}/change/").text


def test_decision_P14_an_operator_edits_the_custom_claims_of_an_application(acme, operator, client):
    operate(
        operator, "applications/application", client.application, "claims", custom_claims=json.dumps([CLAIM])
    )

    with acme.active():
        assert Application.objects.get(pk=client.application.pk).custom_claims == [CLAIM]
    page = page_of(operator, "applications/application", client.application)
    assert "user.custom_data.plan" in page
    assert "Custom claims and roles in tokens" in page


def test_decision_P13_an_operator_chooses_the_claims_of_a_resource(acme, operator):
    with acme.active():
        resource = Resource.objects.create(name="Orders", indicator="https://orders.example")
    own = [CLAIM | {"into": ["access_token"]}]

    operate(
        operator, "resources/resource", resource, "claims", claims=["roles"], custom_claims=json.dumps(own)
    )

    with acme.active():
        resource.refresh_from_db()
    assert (resource.claims, resource.custom_claims) == (["roles"], own)
    page = page_of(operator, "resources/resource", resource)
    assert (
        '<td data-label="Source">user.custom_data.plan</td><td data-label="Where">Access token</td>' in page
    )
    assert "&quot;into&quot;" not in page


def test_decision_P13_the_page_of_a_role_says_which_claim_has_it(acme, operator):
    with acme.active():
        role = Role.objects.create(name="Editor", type=Role.Type.USER)

    page = page_of(operator, "roles/role", role)

    assert "Claims that contain this role" in page
    assert "with the scope roles" in page


def test_decision_P14_an_operator_sees_the_claims_of_a_user(acme, operator, client):
    user = acme.user("ada", name="Ada <b>Lovelace</b>")

    answer = operator.get(
        f"/admin/applications/application/{client.application.pk}/do/claims-preview/",
        params={"user_id": str(user.pk), "scope": "openid profile"},
    )

    assert answer.status_code == 200
    assert "scope profile" in answer.text
    assert "Ada &lt;b&gt;Lovelace&lt;/b&gt;" in answer.text


@pytest.mark.parametrize("name", ["ada", "ada@example.com", "+441632960123"])
def test_the_user_is_named_by_an_identifier_and_the_organization_by_its_name(acme, operator, client, name):
    admin = superuser(acme)
    user = acme.user("ada", name="Ada Lovelace", email="ada@example.com", phone="+441632960123")
    clinic = admin.created("/organizations", name="Clinic")["id"]
    admin.post(f"/organizations/{clinic}/users", user_ids=[str(user.pk)])
    path = f"/admin/applications/application/{client.application.pk}/do/claims-preview/"

    shown = operator.get(
        path, params={"user_id": name, "organization_id": "Clinic", "scope": "openid profile"}
    )
    unknown = operator.get(path, params={"user_id": name, "organization_id": "Shop", "scope": "openid"})
    admin.created("/organizations", name="Clinic")
    several = operator.get(path, params={"user_id": name, "organization_id": "Clinic", "scope": "openid"})

    assert shown.status_code == 200
    assert "Ada Lovelace" in shown.text
    assert (unknown.status_code, several.status_code) == (400, 400)
    assert "is unknown, or the user is not a member" in unknown.text
    assert "Several organizations have this name. Enter the ID." in several.text


def test_decision_P14_a_user_of_another_tenant_is_unknown_to_the_preview(rival, operator, client):
    answer = operator.get(
        f"/admin/applications/application/{client.application.pk}/do/claims-preview/",
        params={"user_id": str(rival.user().pk), "scope": "openid"},
    )

    assert answer.status_code == 400
    assert "no user has the ID, username, email or phone" in answer.text

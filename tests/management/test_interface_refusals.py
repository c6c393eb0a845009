"""Refusals of the management API, in the words of the interface."""

from unittest import mock

import orjson
import pytest
from django.test import Client

from identity.organizations import enrolment
from identity.organizations import services as organizations
from management.members import viewsets as members
from tests.support.independent import bearer
from tests.support.management import refusal_of


class TestRefusals:
    """The lines of the error table that are the management API's own."""

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("/users", "user not found"),
            ("/logs", "log entry not found"),
            ("/roles", "role not found"),
            ("/resources", "resource not found"),
            ("/organizations", "organization not found"),
            ("/organization-roles", "organization role not found"),
            ("/applications", "application not found"),
            ("/connectors", "connector not found"),
        ],
    )
    def test_an_unknown_thing_is_404_and_is_called_by_its_name(self, admin, path, message):
        assert refusal_of(admin.get(f"{path}/01900000-0000-7000-8000-000000000000"), 404) == message

    def test_an_address_that_is_nothing_is_404_in_the_envelope(self, admin):
        assert refusal_of(admin.get("/nothing/here"), 404)

    @pytest.mark.parametrize(
        ("path", "body", "message"),
        [
            ("/users", {"username": "taken", "password": "sesame"}, "username: already exists"),
            ("/roles", {"name": "taken", "type": "User"}, "name: already exists"),
            ("/resources", {"name": "x", "indicator": "https://taken.example"}, "indicator: already exists"),
            ("/organization-roles", {"name": "taken"}, "name: already exists"),
            ("/organization-permissions", {"name": "taken"}, "name: already exists"),
        ],
    )
    def test_what_is_taken_is_400_and_is_named(self, admin, path, body, message):
        admin.created(path, **body)

        assert refusal_of(admin.post(path, **body), 400) == message

    def test_a_lifetime_that_is_not_given_is_an_hour(self, admin):
        made = admin.created("/resources", name="API", indicator="https://hour.example")

        assert made["access_token_ttl"] == 3600


class TestWhatNobodyForesaw:
    """The member API has a code for each operation that broke, and says no more than that."""

    @pytest.mark.parametrize(
        ("call", "broken", "code"),
        [
            (("GET", "", None), (members.MemberViewSet, "paginate_queryset"), 41300),
            (("POST", "", {"phone": "+4930123456"}), (enrolment, "enroll"), 41302),
            (("DELETE", "/{user}", None), (organizations, "remove_member"), 41303),
            (("GET", "/{user}/roles", None), (organizations, "get_membership"), 41304),
            (("PUT", "/{user}/roles", {"role_ids": []}), (organizations, "set_member_roles"), 41304),
        ],
    )
    def test_is_500_with_the_code_of_the_operation(self, crowd, callers, call, broken, code):
        method, suffix, body = call
        estate = crowd["members"]
        path = f"/api/v1/m2m/organizations/{estate['organizations']}/members{suffix}"
        address = f"{estate.world.tenant.to_active().prefix}{path.format(user=estate['members'])}"

        with mock.patch.object(*broken, side_effect=RuntimeError("the very inside")):
            answer = Client(raise_request_exception=False).generic(
                method,
                address,
                data=b"" if body is None else orjson.dumps(body),
                content_type="application/json",
                headers=bearer(callers["members"].token or ""),
            )

        assert answer.status_code == 500
        assert answer.json() == {"code": code, "result": None, "message": mock.ANY}
        assert "inside" not in answer.text

"""Who may use a route of the management API: each condition alone decides."""

from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework.exceptions import NotFound

from identity.core import tenancy
from identity.resources import services as resources
from management.administrators import support_rights
from management.administrators.models import Administrator, Role
from management.api import permissions
from management.api.permissions import IsSuperuser, ManagesTenant
from oidc.provider.client_principal import ClientPrincipal
from tests.support import cast

NO_SCOPE = (
    "the token does not have the scope all: give the application the role Service Management API access"
)
USER, USERS, TENANT = "api:user", "api:user-list", "api:tenant"


@pytest.fixture
def acme(database):
    return cast.new_world("Acme")


def request(user: Any, method: str = "GET", route: str = USER, data: Any = None) -> Any:
    return SimpleNamespace(
        user=user, method=method, data=data, resolver_match=SimpleNamespace(view_name=route)
    )


def administrator(role: str = Role.ADMINISTRATOR, *, everywhere: bool = False, here: bool = True) -> Any:
    found: Any = Administrator(role=role, is_superuser=everywhere)
    found.lists_tenant = here
    return found


def machine(acme: cast.World, *, is_granted: bool = True, **claims: Any) -> ClientPrincipal:
    """A machine with a token that is good for the management API, unless the claims say otherwise."""
    good = {"aud": resources.management_indicator(acme.tenant.pk), "scope": f"other {resources.ALL}"}
    return ClientPrincipal(
        acme.application("MachineToMachine").application, good | claims, {"is_granted": is_granted}
    )


class TestManagesTenant:
    def is_allowed(self, *arguments: Any) -> bool:
        return ManagesTenant().has_permission(request(*arguments), None)  # type: ignore[arg-type]

    def test_an_administrator_of_this_tenant_or_of_all(self):
        assert self.is_allowed(administrator())
        assert self.is_allowed(administrator(everywhere=True, here=False))
        assert not self.is_allowed(administrator(here=False))

    def test_nobody_else(self):
        assert not self.is_allowed(None)
        assert not self.is_allowed(SimpleNamespace(manages_tenant=True, role=Role.ADMINISTRATOR))

    @pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
    @pytest.mark.parametrize("role", Role.values)
    def test_every_role_reads(self, role, method):
        assert self.is_allowed(administrator(role), method, TENANT)
        assert not self.is_allowed(administrator(role, here=False), method, TENANT)

    def test_only_administrators_write_everything(self):
        assert self.is_allowed(administrator(), "DELETE", USER, {})
        assert not self.is_allowed(administrator(Role.SUPPORT), "DELETE", USER, {})
        assert not self.is_allowed(administrator(Role.AUDITOR), "PATCH", USER, {})

    def test_support_writes_what_it_may_but_no_forbidden_field(self):
        support = administrator(Role.SUPPORT)
        assert self.is_allowed(support, "PATCH", USER, {"name": "Ada"})
        assert not self.is_allowed(support, "PATCH", USER, {"name": "Ada", "email": "a@b.example"})
        assert self.is_allowed(support, "PATCH", USER, ["no", "object"])  # refused as malformed later

    def test_a_role_is_not_asked_for_the_body_of_what_it_may_not_write(self):
        class Unreadable:
            user, method = administrator(Role.AUDITOR), "PATCH"
            resolver_match = SimpleNamespace(view_name=USER)

            @property
            def data(self) -> Any:
                raise AssertionError("the body was read")

        assert not ManagesTenant().has_permission(Unreadable(), None)  # type: ignore[arg-type]

    def test_the_message_names_the_role_that_does_not_allow_it(self):
        rule = ManagesTenant()
        rule.has_permission(request(administrator(), "PATCH", USER, {}), None)  # type: ignore[arg-type]
        assert rule.message == ManagesTenant.message

        rule.has_permission(request(administrator(Role.AUDITOR), "PATCH", USER, {}), None)  # type: ignore[arg-type]
        assert rule.message == "the role auditor does not allow this"

    def test_a_machine_whose_token_and_roles_allow_it(self, acme):
        with acme.active():
            assert self.is_allowed(machine(acme), "DELETE")

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"is_granted": False}, "has no role"),
            ({"organization_id": "2b6f0cc9"}, "without organization_id"),
            ({"aud": "https://api.example"}, "resource=urn:service:management-api:"),
            ({"scope": "other"}, NO_SCOPE),
            ({"scope": ""}, NO_SCOPE),
        ],
    )
    def test_no_machine_without_one_of_the_conditions(self, acme, changes, message):
        rule = ManagesTenant()
        with acme.active():
            assert not rule.has_permission(request(machine(acme, **changes)), None)  # type: ignore[arg-type]
        assert message in rule.message

    def test_a_scope_that_a_route_allows_is_named(self, acme, monkeypatch):
        monkeypatch.setattr(permissions, "SCOPES", {USER: frozenset({"read:users", "all"})})
        rule = ManagesTenant()
        with acme.active():
            rule.has_permission(request(machine(acme, scope="")), None)  # type: ignore[arg-type]
        assert "the scope all or read:users: give the application a role that has it" in rule.message

    def test_no_machine_with_an_audience_beside_this_api(self, acme):
        with acme.active():
            own = resources.management_indicator(acme.tenant.pk)
            assert not self.is_allowed(machine(acme, aud=[own, "https://api.example"]))

    def test_no_machine_of_another_tenant(self, acme):
        caller = machine(acme)
        with cast.new_world("Rival").active():
            assert not self.is_allowed(caller)


def test_the_roles_are_asked_for_the_sufficient_scopes_of_the_token_alone(acme):
    with acme.active():
        own = resources.management_indicator(acme.tenant.pk)
        queries = [
            permissions.get_principal_query(request(None), {"scope": scope})
            for scope in (f"other {resources.ALL}", resources.ALL, "other")
        ]

    assert [values for _, values in queries] == [{"indicator": own}] * 3
    assert queries[0][0] is queries[1][0]
    assert queries[0][0] is not queries[2][0]


class TestIsSuperuser:
    def is_allowed(self, *arguments: Any) -> bool:
        return IsSuperuser().has_permission(request(*arguments), None)  # type: ignore[arg-type]

    @pytest.fixture(autouse=True)
    def at_root(self, database):
        with tenancy.using(tenancy.DEFAULT):
            yield

    def test_an_administrator_of_every_tenant(self):
        assert self.is_allowed(administrator(everywhere=True), "DELETE", TENANT, {})
        assert not self.is_allowed(administrator(), "GET", TENANT)

    @pytest.mark.parametrize("role", [Role.SUPPORT, Role.AUDITOR])
    def test_other_roles_read_only(self, role):
        assert self.is_allowed(administrator(role, everywhere=True), "GET", TENANT)
        assert not self.is_allowed(administrator(role, everywhere=True), "PATCH", TENANT, {})

    def test_no_machine_and_nobody_who_looks_like_one(self):
        default = cast.default_world()
        assert not self.is_allowed(machine(default))
        assert not self.is_allowed(SimpleNamespace(is_superuser=True, role=Role.ADMINISTRATOR))

    def test_the_routes_do_not_exist_below_a_tenant(self, acme):
        with acme.active(), pytest.raises(NotFound):
            self.is_allowed(administrator(everywhere=True))


class TestSupport:
    @pytest.mark.parametrize(("route", "methods"), support_rights.ROUTES.items())
    def test_writes_by_the_methods_of_the_table_alone(self, route, methods):
        allowed = {
            method
            for method in ("POST", "PUT", "PATCH", "DELETE")
            if support_rights.may_write(route, method, ())
        }
        assert allowed == methods

    def test_writes_nothing_else(self):
        assert not support_rights.may_write("api:role", "PATCH", ())
        assert not support_rights.may_write("", "POST", ())

    @pytest.mark.parametrize(
        "field",
        ["email_verified", "phone_verified", "username", "email", "phone", "primary_email", "primary_phone"],
    )
    def test_changes_no_identifier_of_a_user(self, field):
        assert support_rights.may_write(USER, "PATCH", ["name"])
        assert not support_rights.may_write(USER, "PATCH", [field])
        assert not support_rights.may_write(USER, "PATCH", ["name", field])

    @pytest.mark.parametrize("field", ["email_verified", "phone_verified"])
    def test_creates_no_user_with_a_proven_address(self, field):
        assert support_rights.may_write(USERS, "POST", ["username", "email", "phone"])
        assert not support_rights.may_write(USERS, "POST", ["username", field])

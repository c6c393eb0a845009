"""What a dangerous operation says before it is done: what ends, what is deleted, who loses what."""

import re
from html import unescape

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.translation import ngettext_lazy

from identity.core import impacts, tenancy
from identity.core.impacts import Impact, Loss, Verb
from identity.organizations.models import (
    MemberRole,
    Membership,
    Organization,
    OrganizationPermission,
    OrganizationRole,
    OrganizationRolePermission,
)
from identity.resources.models import Resource, Scope
from identity.roles.models import Role, RoleScope, UserRole
from identity.sessions import services as sessions
from identity.tenants import services as tenants
from oidc.applications.models import AllowedRole
from oidc.grants.models import RefreshFamily
from oidc.keys import services as keys
from oidc.keys import usage
from tests.support import operators
from tests.support.operators import administrator


def said(operator, kind, row, name="delete"):
    """The sentences about the impact, on the page that asks for confirmation."""
    page = operator.get(f"/admin/{kind}/{row.pk}/do/{name}/")
    assert page.status_code == 200
    (found,) = re.findall(r'<ul class="impact".*?</ul>', page.text, re.DOTALL)
    assert page.text.index(found) < page.text.index('class="default destructive"')
    return [unescape(text) for text in re.findall(r"<li[^>]*>([^<]*)</li>", found)]


@pytest.fixture
def ada(acme):
    """A user with two sessions, a refresh token, a role and an organization."""
    user = acme.user("ada")
    client = acme.application(name="Shop")
    client.tokens_for(user)
    with acme.active():
        sessions.start(user, amr=["pwd"])
        UserRole.objects.create(user=user, role=Role.objects.create(name="editor"))
        Membership.objects.create(user=user, organization=Organization.objects.create(name="Chapter"))
    return user


def test_of_a_user(acme, rival, operator, ada):
    other = rival.user("bob")
    with rival.active():
        sessions.start(other, amr=["pwd"])

    assert said(operator, "users/user", ada) == [
        "2 sessions end.",
        "1 refresh token ends.",
        "1 role loses the user.",
        "1 organization loses a member.",
    ]
    assert said(operator, "users/user", ada, "suspend") == ["2 sessions end.", "1 refresh token ends."]
    assert said(operator, "users/user", acme.user("nobody")) == ["Nothing else is lost."]
    assert operator.get(f"/admin/users/user/{other.pk}/do/delete/").status_code == 404


def test_of_what_users_have(acme, operator, ada):
    with acme.active():
        role, organization = Role.objects.get(name="editor"), Organization.objects.get()
        application = RefreshFamily.objects.get().application
        AllowedRole.objects.create(application=application, role=role)
        resource = Resource.objects.create(name="Books", indicator="https://books.example")
        scope = Scope.objects.create(resource=resource, name="read")
        RoleScope.objects.create(role=role, scope=scope)
        chief = OrganizationRole.objects.create(name="chief")
        MemberRole.objects.create(membership=Membership.objects.get(), role=chief)
        permission = OrganizationPermission.objects.create(name="edit")
        OrganizationRolePermission.objects.create(role=chief, permission=permission)

    assert said(operator, "applications/application", application) == ["1 refresh token ends."]
    assert said(operator, "applications/application", application, "end-tokens") == ["1 refresh token ends."]
    assert said(operator, "roles/role", role) == [
        "1 user loses the role.", "1 application no longer lets in the users of the role.",
    ]  # fmt: skip
    assert said(operator, "organizations/organization", organization) == ["1 user is no longer a member."]
    assert said(operator, "organizations/organizationrole", chief) == ["1 member loses the role."]
    assert said(operator, "organizations/organizationpermission", permission) == [
        "1 organization role loses the permission."
    ]
    assert said(operator, "resources/resource", resource) == ["1 role loses scopes.", "1 scope is deleted."]
    assert said(operator, "resources/scope", scope) == ["1 role loses the scope."]


def test_of_a_tenant_and_of_an_administrator(acme, operator):
    with tenancy.using(tenancy.DEFAULT):
        tenant = tenants.provision(slug=f"lost-{operator.who.pk}", name="Lost")
    limited = administrator(tenants=[tenant.slug])
    with tenancy.using(tenant.to_active()):
        Organization.objects.create(name="Chapter")

    assert said(operator, "tenants/tenant", tenant) == ["1 organization is deleted."]
    assert said(operator, "administrators/administrator", limited) == [
        "1 tenant is then managed by superusers only."
    ]
    administrator(tenants=[tenant.slug])
    assert said(operator, "administrators/administrator", limited) == ["Nothing else is lost."]


def test_of_a_signing_key(acme, operator):
    acme.application().tokens_for(acme.user())
    with acme.active():
        old = keys.rotate().__class__.objects.get(status="previous")
        last = usage.get_last_expiry(old)

    assert last is not None
    assert said(operator, "keys/signingkey", old) == [
        f"Tokens that would be valid until {last:%Y-%m-%d %H:%M} UTC are refused."
    ]


def test_rows_are_counted_up_to_a_thousand(acme, monkeypatch):
    monkeypatch.setattr(impacts, "MOST", 2)
    with acme.active():
        role = Role.objects.create(name="many")
        UserRole.objects.bulk_create(UserRole(role=role, user=acme.user()) for _ in range(4))
        with CaptureQueriesContext(connection) as captured:
            impact = impacts.measure(role)

    assert impact == Impact(detach={"users": 3}, sentences=("2+ users lose the role",))
    assert all("LIMIT 3" in query["sql"] for query in captured)


@pytest.mark.parametrize(("number", "text"), [(1, "1 x ends"), (2, "2 xs end"), (1000, "1,000 xs end")])
def test_numbers_are_written_as_people_write_them(number, text):
    loss = Loss(
        "users.User",
        Verb.END,
        "x",
        lambda _: Role.objects.none(),
        ngettext_lazy("%(number)s x ends", "%(number)s xs end", "count"),
    )

    assert loss.describe(number) == text


def test_declarations_name_models_and_each_kind_once():
    losses = impacts.get_losses()

    assert len(losses) > 20
    assert {loss.model for loss in losses} <= {model._meta.label for model in apps.get_models()}
    assert len({(loss.model, loss.verb, loss.kind) for loss in losses}) == len(losses)
    assert len(settings.IMPACTS) == len(set(settings.IMPACTS))


def test_support_sees_what_a_suspension_ends(acme, ada):
    support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))

    assert said(support, "users/user", ada, "suspend") == ["2 sessions end.", "1 refresh token ends."]

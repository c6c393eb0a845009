"""Rows for every list of the operators' site, and the submission of operations."""

from datetime import timedelta

from django.utils import timezone

from audit import log
from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.organizations.models import Membership, Organization, OrganizationPermission, OrganizationRole
from identity.sessions import services as sessions
from identity.tenants.models import Tenant
from interaction.connectors import services as connectors
from interaction.connectors.messages import Message
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from management.administrators import invitations
from oidc.applications.models import OrganizationApplication
from oidc.keys import services as keys
from oidc.settings import services as oidc_settings
from tests.support.cast import PASSWORD
from tests.support.operators import address_of, administrator, pages

SECRET = "hunter2-is-what-nobody-may-see"
LISTS = [address_of(kind) for kind in pages()]


def furnish(world):
    """Create several rows for every list of a tenant. Return the users and the applications."""
    people = [world.user(name=f"Person {number}", email=f"p{number}@acme.example") for number in range(3)]
    applications = [world.application(name=f"Shop {number}") for number in range(3)]
    robot = world.application("MachineToMachine", name="Robot").application
    with world.active():
        for user in people:
            sessions.start(user, amr=["pwd"])
            log.record(Event.SIGN_IN_PASSWORD, user_id=user.pk, identifier=user.username, result="success")
        for number in range(3):
            made = Organization.objects.create(name=f"Chapter {number}")
            OrganizationApplication.objects.create(organization=made, application=robot)
            OrganizationRole.objects.create(name=f"Role {number}")
            OrganizationPermission.objects.create(name=f"read:{number}")
            for user in people:
                Membership.objects.create(organization=made, user=user)
            connectors.create(
                connector_id="google",
                type="Social",
                config={"client_id": "x", "client_secret": SECRET},
                is_proven=True,
            )
            outgoing.enqueue(
                Message(channel="email", to="a@acme.example", interaction_type="test", code="", body=SECRET)
            )
        # Nobody sends them, or those of earlier tests, while they are looked at.
        with tenancy.using(tenancy.EVERYWHERE):
            OutgoingMessage.objects.update(due_at=timezone.now() + timedelta(hours=1))
        keys.rotate()
        oidc_settings.change({"keep_signed_in": True}, is_proven=True)
    invitations.invite(
        email=f"{world.tenant.slug}@acme.example", by=administrator(), current_password=PASSWORD
    )
    return people, applications


def first_of(kind, world):
    """Return a row of a kind in a tenant."""
    with world.active():
        if kind.model is Entry:
            return Entry.objects.filter(tenant_id=world.tenant.pk).first()
        if kind.model is Tenant:
            return world.tenant
        return kind.model._default_manager.first()


def is_sign_in(answer):
    return answer.status_code in {302, 303} and answer.headers["Location"].startswith("/admin/login/")


def operate(operator, kind, row, name, /, **typed):
    path = f"/admin/{kind}/{row.pk}/do/{name}/" if row is not None else f"/admin/{kind}/do/{name}/"
    return operator.submit(path, **typed)

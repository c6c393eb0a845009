"""What ends with an administrator, and what is deleted with a tenant: see ``identity.core.impacts``."""

from functools import partial
from typing import Final

from django.db.models import Model, QuerySet
from django.utils.translation import ngettext_lazy

from identity.core import tenancy
from identity.core.impacts import Loss, Verb
from identity.organizations.models import Organization
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from identity.users.models import User
from management.administrators.models import Administrator, Invitation
from oidc.applications.models import Application


def _of_tenant(model: type[Model], tenant: Tenant) -> QuerySet[Model]:
    with tenancy.using(tenancy.EVERYWHERE):
        return model._default_manager.filter(tenant=tenant)


def _only_managed_by(administrator: Administrator) -> QuerySet[Tenant]:
    """Return the tenants that are then managed by superusers only."""
    others = Administrator.tenants.through.objects.exclude(administrator=administrator)
    return administrator.tenants.exclude(pk__in=others.values("tenant"))


LOSSES: Final = [
    Loss(
        "administrators.Administrator",
        Verb.DELETE,
        "invitations",
        lambda administrator: Invitation.objects.filter(invited_by=administrator),
        ngettext_lazy("%(number)s invitation is revoked", "%(number)s invitations are revoked", "count"),
    ),
    Loss(
        "administrators.Administrator",
        Verb.DETACH,
        "tenants",
        _only_managed_by,
        ngettext_lazy(
            "%(number)s tenant is then managed by superusers only",
            "%(number)s tenants are then managed by superusers only",
            "count",
        ),
    ),
    *(
        Loss(
            "tenants.Tenant",
            Verb.DELETE,
            kind,
            partial(_of_tenant, model),
            text,
        )
        for kind, model, text in (
            (
                "users",
                User,
                ngettext_lazy("%(number)s user is deleted", "%(number)s users are deleted", "count"),
            ),
            (
                "applications",
                Application,
                ngettext_lazy(
                    "%(number)s application is deleted", "%(number)s applications are deleted", "count"
                ),
            ),
            (
                "organizations",
                Organization,
                ngettext_lazy(
                    "%(number)s organization is deleted", "%(number)s organizations are deleted", "count"
                ),
            ),
            (
                "sessions",
                Session,
                ngettext_lazy("%(number)s session is deleted", "%(number)s sessions are deleted", "count"),
            ),
        )
    ),
]

"""Applications that can use the management API, which an old token of an administrator must not make or open.

Otherwise a stolen token would become an application, which proves itself with each token and outlives the
token. Roles in organizations do not count: they give no access to the management API.
"""

from uuid import UUID

from database import ids
from database.list_parameters import among
from identity.core import records
from identity.core.proof import TokenTooOld
from identity.roles import management_scopes
from oidc.applications.models import Application, ApplicationRole


def has_role(application: Application) -> bool:
    """Return whether a role of an application grants a scope of the management API."""
    roles = ApplicationRole.objects.filter(application=application).values("role_id")
    return management_scopes.find_grants().filter(role__in=roles).exists()


def check_secret(application: Application, *, is_proven: bool) -> None:
    """Check that a caller may create or replace a secret of an application.

    ``is_proven`` is whether the administrator who makes the change has signed in recently. The caller has
    opened a transaction. The application is locked, so that it gets no role between the check and the change.

    Raises:
        TokenTooOld: the application can use the management API, and ``is_proven`` is false.
        records.Gone: the application was deleted.

    """
    if is_proven:
        return
    records.lock(application, expected=None)
    if has_role(application):
        raise TokenTooOld


def is_added(application_id: UUID, role_ids: list[str]) -> bool:
    """Return whether a further one of these roles grants a scope of the management API."""
    named = [pk for text in role_ids if (pk := ids.parse(text)) is not None]
    held = ApplicationRole.objects.filter(application=application_id).values("role_id")
    return management_scopes.find_grants().filter(among("role_id", named)).exclude(role__in=held).exists()

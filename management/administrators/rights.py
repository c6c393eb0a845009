"""The rights of administrators: what they may do, and that one who manages everything remains."""

from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from management.administrators.models import Administrator

COLUMNS: Final = ("is_superuser", "role")


class LastSuperuser(ServiceError):
    """The change would leave no administrator of every tenant."""

    reason = "last_superuser"
    message = gettext_noop("the last administrator of every tenant can be neither deleted nor demoted")


def are_changed(administrator: Administrator, fields: dict[str, Any]) -> bool:
    """Return whether these fields change what the administrator may do."""
    now = {"is_superuser": administrator.is_superuser, "role": administrator.role}
    if any(fields.get(name, value) != value for name, value in now.items()):
        return True
    slugs = administrator.tenants.values_list("slug", flat=True)
    return "tenants" in fields and set(fields["tenants"]) != set(slugs)


def check_another_superuser(administrator: Administrator) -> None:
    """Lock all superusers and check that another one remains, so that two cannot demote each other.

    Raises:
        LastSuperuser: there is no other superuser.

    """
    superusers = list(Administrator.objects.select_for_update().filter(is_superuser=True).order_by("pk"))
    if not [other for other in superusers if other.manages_everything and other.pk != administrator.pk]:
        raise LastSuperuser

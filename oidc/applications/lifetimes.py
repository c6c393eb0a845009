"""How long an application's refresh tokens live, and how old its sign-ins may be.

The smallest value holds: of the installation, of the tenant's settings, and of the application. The columns
``effective_refresh_*`` have the smaller of the last two, so that the token endpoint need not read the
settings.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, Subquery, Value
from django.db.models.functions import Coalesce, Greatest
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from database.clock import SecondsAgo
from database.expressions import at_most
from identity.core.errors import Invalid
from identity.resources.models import Resource
from identity.tenants import services as tenants
from oidc.applications.models import Application
from oidc.settings import services as oidc_settings
from oidc.settings.models import OidcSettings

_EFFECTIVE: Final = {
    "refresh_token_idle_seconds": "effective_refresh_idle_seconds",
    "refresh_token_absolute_seconds": "effective_refresh_absolute_seconds",
}
_FIELDS: Final = frozenset({*_EFFECTIVE, "default_max_age"})


def check(fields: Mapping[str, Any], application_type: str) -> None:
    """Check that only an application with users has lifetimes.

    Raises:
        Invalid: a MachineToMachine application has one.

    """
    if application_type != Application.Type.MACHINE:
        return
    for name in sorted(_FIELDS & fields.keys()):
        if fields[name] is not None:
            rule = gettext_noop("must be null for MachineToMachine, which has no users")
            raise Invalid(name, rule, code="conflict")


def new_effective(fields: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the effective lifetimes of a new application."""
    return get_effective({name: fields.get(name) for name in _EFFECTIVE})


def change(application: Application, fields: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the effective lifetimes that follow from changes of an application.

    Tokens that have expired under the old lifetimes stay expired.
    """
    effective = get_effective(fields)
    if effective:
        _keep_expired(application.pk)
    return effective


def get_effective(fields: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the effective lifetimes of an application with these fields.

    This locks the tenant. Otherwise a concurrent change of its settings could miss this application.
    """
    names = [name for name in _EFFECTIVE if name in fields]
    if not names:
        return {}
    tenants.lock()
    current = oidc_settings.current()
    return {_EFFECTIVE[name]: _get_smaller(getattr(current, name), fields[name]) for name in names}


def lock_before_deletion(_: Application) -> None:
    """Lock the tenant, which changes of lifetimes lock before refresh families and applications.

    A deletion locks the application first and its families later, so that one could wait for the other.
    """
    tenants.lock()


def _keep_expired(application_id: UUID | None) -> None:
    """Expire the families of an application, or of the tenant if None, that have exceeded their lifetimes.

    Call it before new lifetimes are written: longer ones would revive these families.
    """
    import_string(settings.EXPIRE_REFRESH_FAMILIES)(application_id)


def _get_smaller(*seconds: int | None) -> int | None:
    return min((each for each in seconds if each is not None), default=None)


def apply_settings(row: OidcSettings, changed: frozenset[str]) -> None:
    """Write the effective lifetimes of all applications after a change of the tenant's settings."""
    names = [name for name in _EFFECTIVE if name in changed]
    if not names:
        return
    tenants.lock()
    _keep_expired(None)
    effective: dict[str, Any] = {}
    for name in names:
        seconds = getattr(row, name)
        effective[_EFFECTIVE[name]] = F(name) if seconds is None else at_most(name, seconds)
    Application.objects.update(**effective)


def are_kept() -> Q:
    """Return the condition that refresh families are within their application's current lifetimes."""
    idle = at_most("application__effective_refresh_idle_seconds", settings.REFRESH_TOKEN_IDLE_SECONDS)
    absolute = at_most(
        "application__effective_refresh_absolute_seconds", settings.REFRESH_TOKEN_ABSOLUTE_SECONDS
    )
    return Q(rotated_at__gt=SecondsAgo(idle), created_at__gt=SecondsAgo(absolute))


def may_have_access() -> Q:
    """Return the condition that the newest access token of a refresh family may not have expired.

    A lowered lifetime ends refresh tokens, but not access tokens. An API counts with its present lifetime,
    which may have been lowered since the token was issued.
    """
    of_apis = Resource.objects.order_by("-access_token_ttl").values("access_token_ttl")[:1]
    longest = Greatest(Coalesce(Subquery(of_apis), Value(0)), Value(settings.ACCESS_TOKEN_SECONDS))
    return Q(rotated_at__gt=SecondsAgo(longest + settings.REFRESH_TOKEN_GRACE_SECONDS))


def get_refresh_idle(application: Application) -> timedelta:
    """Return how long a refresh token of an application lives without use."""
    return _get_lifetime(settings.REFRESH_TOKEN_IDLE_SECONDS, application.effective_refresh_idle_seconds)


def get_refresh_absolute(application: Application) -> timedelta:
    """Return how long after the sign-in an application can refresh its tokens."""
    return _get_lifetime(
        settings.REFRESH_TOKEN_ABSOLUTE_SECONDS, application.effective_refresh_absolute_seconds
    )


def _get_lifetime(most: int, effective: int | None) -> timedelta:
    return timedelta(seconds=most if effective is None else min(most, effective))

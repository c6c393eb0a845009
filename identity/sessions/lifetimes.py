"""How long the sessions of a tenant live, and their cookies."""

from django.conf import settings

from identity.tenants.models import Tenant


def get_absolute_seconds(tenant: Tenant) -> int:
    """Return how long a session lives after the sign-in: the smaller of tenant and installation."""
    most: int = settings.SESSION_ABSOLUTE_SECONDS
    return most if tenant.session_absolute_seconds is None else min(tenant.session_absolute_seconds, most)


def get_cookie_seconds(tenant: Tenant, *, keep_signed_in: bool | None) -> int | None:
    """Return how long the cookie of a session lives, or None if it ends with the browser.

    ``keep_signed_in`` is the choice of the user, or None if the tenant did not ask.
    """
    return None if keep_signed_in is False else get_absolute_seconds(tenant)

"""The pages of an administrator's own account, for the menu of the account and for the search."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from management.administrators import mail, single_sign_on


def get_own_pages() -> list[tuple[Promise, str]]:
    """Return the title and the name of the URL of each page that this installation has."""
    pages = (
        (_("Change password"), "admin:own-password", True),
        (_("Language and time zone"), "admin:own-preferences", True),
        (_("Your email"), "admin:own-email", mail.is_configured()),
        (_("Single sign-on"), "admin:single-sign-on", single_sign_on.is_configured()),
        (_("Passkeys"), "admin:own-passkeys", True),
        (_("Two-step sign-in"), "admin:two-step", True),
    )
    return [(title, url) for title, url, is_available in pages if is_available]

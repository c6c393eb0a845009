"""The additional rule for new email addresses, which ``settings.NEW_EMAIL_RULE`` names."""

from django.conf import settings
from django.utils.module_loading import import_string


def check(email: str) -> None:
    """Check a new email address whose local part has non-ASCII characters.

    Raises:
        Invalid: the tenant does not accept such addresses.

    """
    if not email.rpartition("@")[0].isascii():
        import_string(settings.NEW_EMAIL_RULE)(email)

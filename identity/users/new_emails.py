"""The additional rule for new email addresses, which ``settings.NEW_EMAIL_RULE`` names."""

from django.conf import settings
from django.utils.module_loading import import_string


def check(email: str) -> None:
    """Check an address that a user is about to get. The rule is for local parts with non-ASCII letters.

    Raises:
        Invalid: the tenant does not accept such addresses.

    """
    if not email.rpartition("@")[0].isascii():
        import_string(settings.NEW_EMAIL_RULE)(email)

"""What a new email address has to keep to besides being one: what ``settings.NEW_EMAIL_RULE`` names."""

from django.conf import settings
from django.utils.module_loading import import_string


def check(email: str) -> None:
    """Check an address that nobody has here yet. Only letters beyond ASCII before the ``@`` cost a question.

    Raises:
        Invalid: the tenant does not take such addresses.

    """
    if not email.rpartition("@")[0].isascii():
        import_string(settings.NEW_EMAIL_RULE)(email)

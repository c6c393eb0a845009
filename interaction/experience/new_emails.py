"""The rule for new email addresses, named by ``settings.NEW_EMAIL_RULE``."""

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from interaction.experience import services as experiences


def check(email: str) -> None:
    """Check that a new address has only ASCII characters before the ``@``, unless the tenant allows others.

    ``\u017fam@`` and ``sam@`` are two mailboxes with the same lookup key, so the owner of one could
    block or take over the other's account. Existing addresses are not checked.

    Raises:
        Invalid: the tenant does not allow the address.

    """
    if not is_allowed(email):
        raise Invalid("email", gettext_noop("must have only ASCII characters before the @"))


def is_allowed(email: str) -> bool:
    """Return whether the tenant allows a new address."""
    return email.rpartition("@")[0].isascii() or bool(
        experiences.current().account.get("non_ascii_email_names", False)
    )

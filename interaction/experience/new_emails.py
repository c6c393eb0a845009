"""Which new email addresses a tenant takes: what ``settings.NEW_EMAIL_RULE`` names."""

from identity.core.errors import Invalid
from interaction.experience import services as experience


def check(email: str) -> None:
    """Check that an address has only ASCII before the ``@``, unless the tenant allows others.

    ``\u017fam@`` and ``sam@`` are two mailboxes that look up as one, so somebody could take the
    other's place. Addresses that exist are not asked.

    Raises:
        Invalid: the tenant does not take it.

    """
    if not is_allowed(email):
        raise Invalid("email", "must have only ASCII characters before the @")


def is_allowed(email: str) -> bool:
    """Tell whether a tenant takes a new address."""
    return email.rpartition("@")[0].isascii() or bool(
        experience.current().account.get("non_ascii_email_names", False)
    )

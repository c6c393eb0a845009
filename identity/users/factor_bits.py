"""The bits of ``User.factors``: which kinds of factors a user has. Triggers of the database update them.

The bits are named here, below ``identity.factors``, because the sign-in reads them with the user's row.
"""

from typing import Final

from django.db.models import Q

PASSKEY: Final = 1  # can be a second factor
AUTHENTICATOR: Final = 2
BACKUP_CODE: Final = 4  # one that is not used
FIRST_PASSKEY: Final = 8  # can be the first factor

# The kinds by the names of the API, which ``identity.factors.kinds`` uses too.
NAMES: Final = {"WebAuthn": PASSKEY, "Totp": AUTHENTICATOR, "BackupCode": BACKUP_CODE}
_PASSKEYS: Final = [factors for factors in range(16) if factors & (PASSKEY | FIRST_PASSKEY)]
# The filters of lists. The index of users with factors serves the last two.
FILTERS: Final = {
    "none": Q(factors=0),
    "any": Q(factors__gt=0),
    "phishing_resistant": Q(factors__gt=0, factors__in=_PASSKEYS),
}


def have_passkey(factors: int) -> bool:
    """Return whether a passkey is in a set, as the first or the second factor."""
    return bool(factors & (PASSKEY | FIRST_PASSKEY))


def get_names(factors: int) -> list[str]:
    """Return the kinds of factors in a set."""
    return [name for name, bit in NAMES.items() if factors & bit]

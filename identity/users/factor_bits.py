"""The bits of ``User.factors``: which kinds of factors a user has. The database keeps them.

They are named here, below ``identity.factors``, because the sign-in reads them with the user's row.
"""

from typing import Final

PASSKEY: Final = 1  # can be a second factor
AUTHENTICATOR: Final = 2
BACKUP_CODE: Final = 4  # one that is not used
FIRST_PASSKEY: Final = 8  # can be the first factor

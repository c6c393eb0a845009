"""What the token endpoint reads with a code or a refresh family: not all columns, but the signing keys.

psycopg caches statements of at most 4,096 characters. It would parse a longer one at each request.
"""

from typing import Final

from django.db.models import OuterRef, Subquery

from oidc.applications.models import PAGE_COLUMNS
from oidc.keys.models import SigningKey

_OF_USERS: Final = (
    *("password", "search_text", "username_key", "email_key", "phone_key"),
    *("last_sign_in_at", "login_count", "factors", "two_step", "factor_skipped_at"),
)
_OF_SESSIONS: Final = ("token_hash", "ip", "user_agent", "second_factor_at", "password_confirmed_at")
_OF_APPLICATIONS: Final = (*PAGE_COLUMNS, "default_acr_values", "default_max_age")

NOT_WITH_FAMILIES: Final = (
    *(f"application__{column}" for column in _OF_APPLICATIONS),
    *(f"user__{column}" for column in _OF_USERS),
)
NOT_WITH_CODES: Final = (*NOT_WITH_FAMILIES, *(f"session__{column}" for column in _OF_SESSIONS))


def get_signing_keys() -> dict[str, Subquery]:
    """Return annotations: the ids of the default key, and of the key for the application's algorithm."""
    of_application = SigningKey.objects.active().filter(
        algorithm=OuterRef("application__id_token_signed_response_alg")
    )
    return {
        "active_key_id": Subquery(SigningKey.objects.default().values("pk")[:1]),
        "own_key_id": Subquery(of_application.values("pk")[:1]),
    }

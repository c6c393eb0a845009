"""What the token endpoint reads with a code or a refresh family.

The endpoint leaves out the columns that it does not need, and adds the ids of the signing keys. With a
family, it also reads whether the family can be refreshed and is in its grace period, by the clock of the
database.

psycopg's own cursor executes a statement until it is prepared, and all statements behind PgBouncer. It parses
one of more than 4,096 characters each time.
"""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, F, OuterRef, Q, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from oidc.applications import lifetimes
from oidc.applications.models import PAGE_COLUMNS
from oidc.keys.models import SigningKey

_GRACE: Final = timedelta(seconds=settings.REFRESH_TOKEN_GRACE_SECONDS)
_USER_COLUMNS_IN_NO_TOKEN: Final = (
    *("version", "password", "search_text", "username_key", "email_key", "phone_key"),
    *("email_proven", "phone_proven", "self_registered", "last_sign_in_at", "login_count"),
    *("factors", "two_step", "factor_skipped_at"),
)
_SESSION_COLUMNS_IN_NO_TOKEN: Final = (
    *("token_hash", "ip", "user_agent", "second_factor_at", "password_confirmed_at", "keep_signed_in"),
    *("last_used_at", "expires_at", "created_at", "updated_at"),
)

NOT_WITH_APPLICATIONS: Final = tuple(
    f"application__{column}" for column in (*PAGE_COLUMNS, "default_acr_values", "default_max_age")
)
_NOT_WITH_USERS: Final = tuple(f"user__{column}" for column in _USER_COLUMNS_IN_NO_TOKEN)
# The times and the reason of the end matter only to ``is_refreshable`` and ``in_grace``.
NOT_WITH_FAMILIES: Final = (
    *("updated_at", "rotated_at", "idle_expires_at", "expires_at", "ended_at", "end_reason"),
    *_NOT_WITH_USERS,
)
NOT_WITH_CODES: Final = (
    *("code_hash", "updated_at", "expires_at", "family_id", "access_token_id", "access_token_expires_at"),
    *_NOT_WITH_USERS,
    *(f"session__{column}" for column in _SESSION_COLUMNS_IN_NO_TOKEN),
)


def get_signing_keys() -> dict[str, Subquery]:
    """Return annotations: the ids of the default key, and of the key for the application's algorithm."""
    of_application = SigningKey.objects.active().filter(
        algorithm=OuterRef("application__id_token_signed_response_alg")
    )
    return {
        "default_key_id": Subquery(SigningKey.objects.default().values("pk")[:1]),
        "own_key_id": Subquery(of_application.values("pk")[:1]),
    }


def is_open() -> Q:
    """Return the condition that a refresh family has not ended, and that its stored times have not passed."""
    return Q(ended_at=None, idle_expires_at__gt=Now(), expires_at__gt=Now())


def get_state() -> dict[str, Combinable]:
    """Return annotations: whether a family can be refreshed, and whether its grace period lasts."""
    may_sign_in = Q(user__is_suspended=False, user__epoch=F("epoch"))
    return {
        "is_refreshable": _flag(is_open() & lifetimes.are_kept() & may_sign_in),
        "in_grace": _flag(Q(rotated_at__gt=Now() - _GRACE)),
    }


def _flag(condition: Q) -> Combinable:
    return ExpressionWrapper(condition, output_field=BooleanField())

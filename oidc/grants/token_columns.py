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

_OF_USERS: Final = (
    *("password", "search_text", "username_key", "email_key", "phone_key"),
    *("last_sign_in_at", "login_count", "factors", "two_step", "factor_skipped_at"),
)
_OF_SESSIONS: Final = (
    *("token_hash", "ip", "user_agent", "second_factor_at", "password_confirmed_at", "keep_signed_in"),
    *("last_used_at", "expires_at", "created_at", "updated_at"),
)
_GRACE: Final = timedelta(seconds=settings.REFRESH_TOKEN_GRACE_SECONDS)
_OF_APPLICATIONS: Final = (*PAGE_COLUMNS, "default_acr_values", "default_max_age")

OF_USERS_NOT_WITH_FAMILIES: Final = tuple(f"user__{column}" for column in _OF_USERS)
OF_SESSIONS_NOT_WITH_CODES: Final = tuple(f"session__{column}" for column in _OF_SESSIONS)
NOT_WITH_FAMILIES: Final = (
    *(f"application__{column}" for column in _OF_APPLICATIONS),
    *OF_USERS_NOT_WITH_FAMILIES,
)
NOT_WITH_CODES: Final = (
    *("code_hash", "updated_at", "expires_at", "family_id", "access_token_id", "access_token_expires_at"),
    *(f"user__{column}" for column in ("version", "email_proven", "phone_proven", "self_registered")),
    *NOT_WITH_FAMILIES,
    *OF_SESSIONS_NOT_WITH_CODES,
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

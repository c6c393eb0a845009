"""Authorization codes (RFC 6749 section 4.1): issuing, finding and revoking. ``redemption`` redeems them."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Self
from uuid import UUID

from django.conf import settings
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from database import rows
from database.clock import DatabaseNow
from database.statements import AtomicChange, Insert
from identity.core.tenant_statements import Select, text
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants import code_sign_ins, families, requests, revocations, revoked_tokens, token_columns
from oidc.grants.models import AuthorizationCode, AuthorizationRequest

_LIFETIME: Final = timedelta(seconds=settings.AUTHORIZATION_CODE_SECONDS)
_insert: Final = Insert(
    AuthorizationCode, including=("acr",), created_at=DatabaseNow(), expires_at=Now() + _LIFETIME
)


def is_live() -> Combinable:
    """Return the annotation of ``FoundCode.is_live``."""
    return ExpressionWrapper(
        Q(expires_at__gt=Now(), session__ended_at=None, user__is_suspended=False)
        & code_sign_ins.is_current(),
        output_field=BooleanField(),
    )


_of_client: Final = Select(
    lambda: (
        AuthorizationCode.objects.filter(
            code_hash=text("code_hash"), application__client_id=text("client_id")
        )
        .select_related("user", "session", "application")
        .defer(*token_columns.NOT_WITH_CODES, *token_columns.NOT_WITH_APPLICATIONS)
        .annotate(
            **token_columns.get_signing_keys(),
            is_live=is_live(),
            is_user_at_limit=revocations.is_user_at_limit(),
        )[:1]
    )
)
_finish_request_and_insert: Final = AtomicChange(requests.FINISH, _insert)


@dataclass(frozen=True, slots=True)
class FoundCode:
    """A code as it is now, with its user, session and application, and the signing keys.

    ``is_live``: the code has not expired, its session has not ended, its user may sign in, and since it was
    issued nothing has ended the grants of the user, such as a new password. A live code may have been
    redeemed. ``default_key_id`` is the tenant's default key, ``own_key_id`` the key of the
    application's own algorithm. ``is_user_at_limit``: see ``revocations.is_user_at_limit``.
    """

    row: AuthorizationCode
    is_live: bool
    default_key_id: UUID
    own_key_id: UUID | None
    is_user_at_limit: bool

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return a code whose row was read with the annotations of ``find``."""
        return cls(row, bool(row.is_live), row.default_key_id, row.own_key_id, bool(row.is_user_at_limit))


def get_hash(code: str) -> str:
    """Return the hash that is stored for a code."""
    return hashlib.sha256(code.encode()).hexdigest()


def issue(  # noqa: PLR0913 - what a code is bound to
    *,
    application: Application,
    session: Session,
    redirect_uri: str,
    scope: str,
    claims: dict[str, list[str]],
    resource: str,
    organization_id: str,
    nonce: str,
    code_challenge: str,
    consent_id: UUID | None,
    acr: str = "",
    pending_request: AuthorizationRequest | None = None,
) -> str | None:
    """Issue a code of 256 random bits, bound to all arguments, and delete the pending request.

    The code keeps what the session has proven now.

    Return None if the pending request was answered before.
    """
    code = secrets.token_urlsafe(32)
    row = rows.new(
        AuthorizationCode,
        code_hash=get_hash(code),
        application=application,
        user=session.user,
        session=session,
        redirect_uri=redirect_uri,
        scope=scope,
        claims=claims,
        resource=resource,
        organization_id=organization_id,
        nonce=nonce,
        code_challenge=code_challenge,
        consent_id=consent_id,
        acr=acr,
        **code_sign_ins.get_columns(session),
    )
    if pending_request is None:
        _insert(row)
    elif not _finish_request_and_insert({"pk": pending_request.pk}, row):
        return None
    return code


def find(code: str, *, client_id: str) -> FoundCode | None:
    """Return a code that was issued to the application with this client id, redeemed or not."""
    row = _of_client.first(code_hash=get_hash(code), client_id=client_id)
    return FoundCode.of(row) if row else None


def find_last_application(session: Session) -> Application | None:
    """Return the application that got the session's newest stored code, or None if no code is stored."""
    codes = AuthorizationCode.objects.filter(session=session).select_related("application")
    last = codes.order_by("-pk").first()
    return None if last is None else last.application


def end_trial(code: AuthorizationCode, *, reason: str) -> None:
    """Delete the code of a trial or, if it was redeemed, revoke the tokens that were issued for it."""
    deleted, _ = AuthorizationCode.objects.filter(pk=code.pk, consumed_at=None).delete()
    if not deleted:
        revoke_issued(code, reason=reason)


def revoke_issued(code: AuthorizationCode, *, reason: str = "code_reused") -> None:
    """Revoke the tokens that a code was redeemed for, by default because it was presented a second time.

    RFC 6749 section 4.1.2: the server SHOULD revoke all tokens previously issued based on
    that authorization code.
    """
    try:
        code.refresh_from_db(fields=["family_id", "access_token_id", "access_token_expires_at"])
    except AuthorizationCode.DoesNotExist:
        return  # deleted in the meantime with its user or application, and so are its tokens
    if code.family_id is not None:
        families.end(
            code.family_id,
            reason=reason,
            user_id=code.user_id,
            application_id=code.application_id,
        )
    elif code.access_token_id is not None and code.access_token_expires_at is not None:
        revoked_tokens.add(
            code.access_token_id,
            code.access_token_expires_at,
            reason=reason,
            user_id=code.user_id,
            application_id=code.application_id,
        )

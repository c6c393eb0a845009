"""Token revocation (RFC 7009)."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from django.db import transaction

from audit.events import Event
from database import ids
from oidc.applications.models import Application
from oidc.grants import families, revoked_tokens
from oidc.keys.jws import InvalidToken
from oidc.provider import client_authentication, client_failures, tokens
from oidc.provider.errors import InvalidClient


def authenticate_client(authorization: str | None, parameters: Mapping[str, str]) -> Application:
    """Return the client of a revocation request.

    Raises:
        errors.InvalidRequest: both the header and the body have a secret.
        InvalidClient: authentication failed. The failure is counted and recorded in the audit log.
        limits.TooMany: authentication failed too often.

    """
    try:
        return client_authentication.authenticate(authorization, parameters).application
    except InvalidClient as error:
        client_failures.record(Event.TOKEN_REVOKE, error.code, client_id=error.client_id)
        raise


@transaction.atomic
def revoke(token: str, application: Application) -> None:
    """Revoke an access token or the family of a refresh token, if it was issued to the application.

    ``token_type_hint`` is not read (RFC 7009 section 2.1 allows that): the types have different formats.
    """
    refresh_token = families.parse_token(token)
    if refresh_token is not None:
        family = families.find(refresh_token.family_id, client_id=application.client_id)
        if family is not None:
            families.end(
                refresh_token.family_id,
                reason="revoked",
                user_id=family.row.user_id,
                application_id=application.pk,
            )
        return
    try:
        claims = tokens.read_access_token(token).claims
    except InvalidToken:
        return
    if claims["client_id"] == application.client_id and claims["exp"] > time.time():
        revoked_tokens.add(
            claims["jti"],
            datetime.fromtimestamp(claims["exp"], tz=UTC),
            reason="revoked",
            user_id=ids.parse(claims["sub"]),
            application_id=application.pk,
        )

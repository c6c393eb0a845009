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
        errors.InvalidRequest: both the header and the body have credentials.
        InvalidClient: authentication failed. That is counted and written to the audit log.
        limits.TooMany: it failed too often.

    """
    try:
        return client_authentication.authenticate(authorization, parameters).application
    except InvalidClient as refused:
        client_failures.record(Event.TOKEN_REVOKE, refused.code, client_id=refused.client_id)
        raise


@transaction.atomic
def revoke(token: str, application: Application) -> None:
    """Revoke a refresh family or an access token, if it was issued to the application.

    RFC 7009 section 2.1: the hint only helps to optimize the lookup, so the format of the token decides.
    """
    presented = families.parse_token(token)
    if presented is not None:
        found = families.find(presented.family_id, client_id=application.client_id)
        if found is not None:
            families.end(
                presented.family_id,
                reason="revoked",
                user_id=found.row.user_id,
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

"""POST /oidc/revoke (RFC 7009)."""

import time
from datetime import UTC, datetime

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from oauthlib.common import Request
from oauthlib.oauth2 import InvalidClientError, OAuth2Error

from audit.events import Event
from database import ids
from identity.limits import services as limits
from oidc.applications.models import Application
from oidc.grants import families, revoked
from oidc.keys.jws import InvalidToken
from oidc.provider import client_authentication, client_failures, errors, tokens
from oidc.provider.cors import cross_origin
from oidc.provider.parameters import Parameters, Refused, form


@csrf_exempt
@cross_origin("POST")
def revoke(request: HttpRequest) -> HttpResponse:
    """Take a token back. 200 whatever the token was; only the client must be right."""
    if request.method != "POST":
        return errors.oauth_error(
            "invalid_request", "The method must be POST.", status=405, headers={"Allow": "POST, OPTIONS"}
        )
    header = request.META.get("HTTP_AUTHORIZATION")
    try:
        sent = form(request)
        application = _client(sent, header)
    except Refused as refused:
        return errors.oauth_error("invalid_request", refused.description, status=refused.status)
    except InvalidClientError as error:
        return _invalid_client(error, basic=header is not None)
    except OAuth2Error as error:
        return errors.oauth_error("invalid_request", error.description or "")
    if not sent["token"]:
        return errors.oauth_error("invalid_request", "The parameter token is missing.")
    with transaction.atomic():
        _take_back(sent["token"], application)
    return errors.oauth_json({})


def _invalid_client(error: InvalidClientError, *, basic: bool) -> HttpResponse:
    try:
        client_failures.record(
            Event.TOKEN_REVOKE, None, error="invalid_client", client_id=error.client_id or ""
        )
    except limits.TooMany as refused:
        return errors.too_many_failures(refused)
    return errors.invalid_client(error.description or "", basic=basic)


def _client(sent: Parameters, header: str | None) -> Application:
    headers = {} if header is None else {"Authorization": header}
    pairs = sent.only(frozenset({"client_id", "client_secret"}))
    oauth = Request("/oidc/revoke", "POST", body=pairs, headers=headers)
    if not client_authentication.authenticate(oauth):
        raise InvalidClientError(request=oauth)
    application: Application = oauth.client
    return application


def _take_back(token: str, application: Application) -> None:
    """End a refresh family, or refuse an access token from now on.

    RFC 7009 section 2.1: the hint only helps to look faster, so the token's own shape
    decides. A token of another client is left alone.
    """
    presented = families.read(token)
    if presented is not None:
        family = families.find(presented.family_id, client_id=application.client_id)
        if family is not None:
            families.end(family.pk, reason="revoked", user_id=family.user_id, application_id=application.pk)
        return
    try:
        claims = tokens.read_access_token(token).claims
    except InvalidToken:
        return
    if claims["client_id"] == application.client_id and claims["exp"] > time.time():
        revoked.add(
            claims["jti"],
            datetime.fromtimestamp(claims["exp"], tz=UTC),
            reason="revoked",
            user_id=ids.parse(claims["sub"]),
            application_id=application.pk,
        )

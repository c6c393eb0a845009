"""POST /oidc/token (RFC 6749 section 3.2)."""

from contextlib import suppress
from typing import Final

import orjson
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from oauthlib.common import Request

from audit.events import Event
from identity.limits import services as limits
from oidc.keys.models import SigningKey
from oidc.provider import client_failures, errors, server
from oidc.provider.cors import cross_origin
from oidc.provider.parameters import Parameters, Refused, form
from oidc.provider.token.client_cache import Outdated

_NAMES: Final = frozenset(
    (
        *("grant_type", "client_id", "client_secret", "code", "redirect_uri", "code_verifier"),
        *("refresh_token", "scope", "resource", "organization_id"),
    )
)
_OK: Final = 200


@csrf_exempt
@cross_origin("POST")
def token(request: HttpRequest) -> HttpResponse:
    """Exchange a code, a refresh token or the client's own credentials for tokens."""
    if request.method != "POST":
        return errors.oauth_error(
            "invalid_request", "The method must be POST.", status=405, headers={"Allow": "POST, OPTIONS"}
        )
    if request.META["QUERY_STRING"]:
        return errors.oauth_error("invalid_request", "Parameters belong in the body, not in the URL.")
    try:
        sent = form(request)
    except Refused as refused:
        return errors.oauth_error("invalid_request", refused.description, status=refused.status)
    if not sent["grant_type"]:
        return errors.oauth_error("invalid_request", "The parameter grant_type is missing.")
    if sent["grant_type"] not in server.GRANTS:
        return errors.oauth_error("unsupported_grant_type")
    return _answer(request, sent)


def _answer(request: HttpRequest, sent: Parameters) -> HttpResponse:
    header = request.META.get("HTTP_AUTHORIZATION")
    try:
        oauth, status, body = _resolve(sent, header)
    except IntegrityError:
        # What the token would hang on was deleted at this very moment.
        return errors.oauth_error("invalid_grant")
    if status == _OK:
        issued = orjson.loads(body)
        return errors.oauth_json({name: value for name, value in issued.items() if value is not None})
    word, response = errors.refusal(body, basic=header is not None)
    try:
        _record_failure(oauth, word)
    except limits.TooMany as refused:
        return errors.too_many_failures(refused)
    return response


def _resolve(sent: Parameters, authorization: str | None) -> tuple[Request, int, str]:
    pairs = _pairs(sent)
    # The key may have been rotated away and deleted before anything was used up: now there is another.
    with suppress(Outdated, SigningKey.DoesNotExist):
        oauth, status, body = server.token_response(pairs, authorization, is_optimistic=True)
        if status == _OK or oauth.remembered is None:
            return oauth, status, body
    return server.token_response(pairs, authorization, is_optimistic=False)


def _pairs(sent: Parameters) -> list[tuple[str, str]]:
    """Return the parameters that count: one without a value was left out (RFC 6749 section 3.1).

    Save the verifier of PKCE, which then is wrong rather than waived.
    """
    return [(name, value) for name, value in sent.only(_NAMES) if value or name == "code_verifier"]


def _record_failure(oauth: Request, word: str) -> None:
    application = oauth.client
    client_failures.record(
        Event.TOKEN_REFRESH if oauth.grant_type == "refresh_token" else Event.TOKEN_EXCHANGE,
        oauth,
        error=word,
        application_id=application.pk if application else None,
        grant_type=oauth.grant_type,
        client_id=oauth.client_id or "",
    )

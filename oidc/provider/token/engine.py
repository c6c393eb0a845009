"""oauthlib runs the steps of a token request that lie between parsing and answering (see ``endpoint``).

Each grant has a class in oauthlib, which calls the hooks of ``Validator`` in the order of the RFC.
"""

from dataclasses import replace
from typing import Any, Final

from django.db import IntegrityError
from oauthlib.common import Request
from oauthlib.oauth2 import OAuth2Error

from oidc.keys.models import SigningKey
from oidc.provider import client_failures, oauthlib_errors
from oidc.provider.errors import InvalidClient, InvalidGrant, OAuthError
from oidc.provider.token.client_cache import Outdated
from oidc.provider.token.endpoint import GRANTS, handle_grant
from oidc.provider.token.request import AuthenticatedClient, Grant, Granted, Stage, TokenRequest
from oidc.provider.validator import Validator


def run(request: TokenRequest) -> Granted:
    """Authenticate the client, check that it may use the grant, and handle the grant.

    Raises:
        OAuthError: one of these refuses. The refusal is counted and written to the audit log.
        limits.TooMany: as before, and there were too many refusals.

    """
    try:
        return _run(request)
    except (Outdated, SigningKey.DoesNotExist):
        # Nothing was written. The signing key was deleted before it could sign, or the cache was wrong.
        return _run(replace(request, may_use_cache=False))


def _run(request: TokenRequest) -> Granted:
    oauth = _new_oauth_request(request)
    try:
        _call_steps(oauth)
    except OAuthError as refusal:
        _record(refusal, request, oauth.stage)
        raise
    except IntegrityError:
        # The user, the session or the application was deleted at the same time.
        raise InvalidGrant from None
    granted: Granted = oauth.stage
    return granted


def _call_steps(oauth: Any) -> None:
    try:
        _FLOWS[oauth.grant_type].validate_token_request(oauth)
    except OAuth2Error as error:
        raise oauthlib_errors.translate(error) from None


def _new_oauth_request(request: TokenRequest) -> Any:
    """Return oauthlib's form of a request. What we know of it is at one attribute, ``stage``."""
    parameters = [("grant_type", request.grant_type), *request.parameters.items()]
    oauth = Request("/oidc/token", "POST", body=parameters)
    oauth.stage = request
    return oauth


def _handle(oauth: Any) -> None:
    oauth.stage = handle_grant(oauth.stage)


def _new_flow(grant: Grant) -> Any:
    flow = grant.FLOW(_validator)
    flow.custom_validators.post_token.append(_handle)
    return flow


_validator: Final = Validator()
_FLOWS: Final = {name: _new_flow(grant) for name, grant in GRANTS.items()}


def _record(refusal: OAuthError, request: TokenRequest, stage: Stage) -> None:
    """Count a refusal and write it to the audit log.

    Raises:
        Outdated: it is based on the cache, and does not count.
        limits.TooMany: there were too many.

    """
    client = stage if isinstance(stage, AuthenticatedClient) else None
    if client and client.is_cached:
        raise Outdated
    application = client.client.application if client else None
    client_failures.record(
        request.grant.EVENT,
        refusal.code,
        is_client_proven=client is not None and client.is_proven,
        client_id=_claimed_client_id(refusal, request, client),
        application_id=application.pk if application else None,
        grant_type=request.grant_type,
    )


def _claimed_client_id(refusal: OAuthError, request: TokenRequest, client: AuthenticatedClient | None) -> str:
    if client is not None:
        return client.client.application.client_id
    return refusal.client_id if isinstance(refusal, InvalidClient) else request["client_id"]

"""Runs the three middle steps of a token request (see ``endpoint``) through oauthlib.

oauthlib has a class for each grant, which calls the hooks of ``Validator`` in the order of the RFC.
"""

from typing import Any, Final

from django.db import IntegrityError
from oauthlib.oauth2 import OAuth2Error

from database.constraints import is_foreign_key_violation
from oidc.applications.models import Application
from oidc.keys.models import SigningKey
from oidc.provider import client_failures, oauthlib_errors
from oidc.provider.errors import InvalidClient, InvalidGrant, OAuthError
from oidc.provider.token.endpoint import GRANTS, handle_grant
from oidc.provider.token.request import AuthenticatedRequest, Grant, Granted, Stage, TokenRequest
from oidc.provider.validator import OAuthRequest, Validator


def run(request: TokenRequest) -> Granted:
    """Authenticate the client, check that it may use the grant, and handle the grant.

    Raises:
        OAuthError: a step failed. The failure is counted and recorded in the audit log.
        limits.TooMany: a step failed, and there were too many failures.

    """
    try:
        return _run(request)
    except SigningKey.DoesNotExist:
        # The signing key was deleted before it could sign. Nothing was granted, so the steps can run again.
        return _run(request)


def _run(request: TokenRequest) -> Granted:
    oauth = _new_oauth_request(request)
    try:
        _call_steps(oauth)
    except OAuthError as error:
        _record(error, request, oauth.stage)
        raise
    granted: Granted = oauth.stage
    return granted


def _call_steps(oauth: Any) -> None:
    try:
        _FLOWS[oauth.grant_type].validate_token_request(oauth)
    except OAuth2Error as error:
        raise oauthlib_errors.translate(error) from None
    except IntegrityError as error:
        if not is_foreign_key_violation(error):
            raise
        # The user, the session or the application was deleted at the same time.
        raise InvalidGrant from None


def _new_oauth_request(request: TokenRequest) -> Any:
    """Return oauthlib's object for a token request. Its attribute ``stage`` is ``request``."""
    parameters = [("grant_type", request.grant_type), *request.parameters.items()]
    oauth = OAuthRequest("/oidc/token", "POST", parameters)
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


def _record(error: OAuthError, request: TokenRequest, stage: Stage) -> None:
    """Count a failure and record it in the audit log.

    Raises:
        limits.TooMany: there were too many failures.

    """
    authenticated = stage if isinstance(stage, AuthenticatedRequest) else None
    application = authenticated.application if authenticated else None
    client_failures.record(
        request.grant.EVENT,
        error.code,
        is_client_proven=authenticated is not None and authenticated.is_secret_checked,
        client_id=_get_client_id(error, request, application),
        application_id=application.pk if application else None,
        grant_type=request.grant_type,
    )


def _get_client_id(error: OAuthError, request: TokenRequest, application: Application | None) -> str:
    """Return the client's id: that of its application or, if it is not authenticated, the claimed one."""
    if application is not None:
        return application.client_id
    return error.client_id if isinstance(error, InvalidClient) else request["client_id"]

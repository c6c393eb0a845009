"""The token endpoint (RFC 6749 section 3.2): the steps of a request, in their order.

``engine`` has oauthlib call the three in the middle, through the hooks of ``Validator``. Between them
oauthlib makes its own checks: that a code or refresh token was sent, and that the PKCE verifier belongs to
the challenge.

When a request has passed all steps, ``keep_plan`` keeps what was decided.
``answer_by_plan`` answers later requests like this one (see ``plans`` and ``user_plans``). All other requests
pass all steps.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse

from audit import context
from audit.client_address import get_address
from database.batching import Work
from identity.http.answers import Answer
from oidc.grants import families
from oidc.provider import client_authentication, custom_claims, errors, parameters, tokens
from oidc.provider.error_responses import oauth_json
from oidc.provider.surface_parts import JSON_HEADERS
from oidc.provider.token import (
    authorization_code,
    client_credentials,
    plan_store,
    plans,
    raw_request,
    refresh_token,
    user_plans,
)
from oidc.provider.token.request import AuthenticatedRequest, Grant, Granted, TokenRequest

GRANTS: Final[Mapping[str, Grant]] = {
    "authorization_code": authorization_code,
    "refresh_token": refresh_token,
    "client_credentials": client_credentials,
}
_UNSUPPORTED: Final = f"grant_type must be one of {', '.join(GRANTS)}."


def parse_request(http: HttpRequest) -> TokenRequest:
    """Return the parameters of a POST. Those that the grant does not read are ignored (RFC 6749 section 3.2).

    Raises:
        errors.WrongMethod: the method is not POST.
        parameters.InvalidParameters: the form cannot be decoded, or a parameter is repeated.
        errors.InvalidRequest: the URL has parameters, or the form has no grant type.
        errors.UnsupportedGrantType: the grant type is unknown.

    """
    if http.method != "POST":
        raise errors.WrongMethod("POST")
    if http.META["QUERY_STRING"]:
        raise errors.InvalidRequest("Parameters belong in the body, not in the URL.")
    form = parameters.form(http)
    grant_type = form["grant_type"]
    if not grant_type:
        raise errors.InvalidRequest("The parameter grant_type is missing.")
    grant = GRANTS.get(grant_type)
    if grant is None:
        raise errors.UnsupportedGrantType(_UNSUPPORTED)
    # RFC 6749 section 3.1: an empty parameter counts as omitted. An empty verifier is an invalid one.
    sent = {
        name: value
        for name, value in form.select(client_authentication.PARAMETERS | grant.PARAMETERS)
        if value or name == "code_verifier"
    }
    return TokenRequest(grant_type, grant, sent, http.META.get("HTTP_AUTHORIZATION"))


def authenticate_client(request: TokenRequest) -> AuthenticatedRequest:
    """Return the request with its client, which is authenticated (RFC 6749 section 3.2.1).

    Raises:
        errors.InvalidClient: the client is unknown, or its credentials are wrong.
        errors.InvalidRequest: both the header and the body have a secret.

    """
    credentials = client_authentication.read_credentials(request.authorization, request.parameters)
    found = request.grant.find_client(request, credentials.client_id)
    if found is None or not client_authentication.is_authentic(found.client, credentials):
        raise client_authentication.new_invalid_client(request.authorization, credentials)
    return AuthenticatedRequest(
        request,
        found.client,
        found.presented,
        is_secret_checked=client_authentication.is_secret_checked(found.client, credentials),
    )


def check_grant_type(request: AuthenticatedRequest) -> None:
    """Check that the client may use the grant type (RFC 6749 section 5.2).

    Raises:
        errors.UnauthorizedClient: the client may not use it.

    """
    allowed = request.application.grant_types
    if request.parsed.grant_type not in allowed:
        raise errors.UnauthorizedClient(f"grant_type must be one of {', '.join(allowed)} for this client.")


def handle_grant(request: AuthenticatedRequest) -> Granted:
    """Decide what is granted, and store it. The module of the grant does both.

    Raises:
        errors.OAuthError: nothing is granted.
        SigningKey.DoesNotExist: the signing key was deleted; nothing was granted.

    """
    return request.parsed.grant.handle(request)


def build_answer(granted: Granted) -> HttpResponse:
    """Return the tokens (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3)."""
    return oauth_json(_build_body(granted))


def _build_body(granted: Granted) -> dict[str, object]:
    contents = granted.context
    access_token = tokens.build_access_token(contents)
    answer: dict[str, object] = {
        "access_token": access_token,
        "token_type": "Bearer",
        "expires_in": contents.lifetime,
        "scope": " ".join(contents.all_scopes),
    }
    if granted.family is not None:
        answer["refresh_token"] = families.build_token(granted.family)
    if contents.has_id_token:
        answer["id_token"] = tokens.build_id_token(contents, access_token)
    custom_claims.record_omissions(contents.application.pk, contents.facts.omitted)
    return answer


# The order, for readers and tests. ``views.token`` calls the first step and the last, and oauthlib calls the
# others (see ``engine`` and ``Validator``).
STEPS: Final = (parse_request, authenticate_client, check_grant_type, handle_grant, build_answer)


def keep_plan(http: HttpRequest, granted: Granted, answer: HttpResponse) -> None:
    """Keep what was decided about a request that has passed all steps, if ``answer_by_plan`` may use it."""
    repeatable = granted.repeatable
    if repeatable and (sent := raw_request.parse(http.META, http.body)):
        if granted.context.user is None:
            plans.add(sent, repeatable, granted.context, answer.content)
        else:
            user_plans.add(sent, repeatable.request)


def answer_by_plan(environ: dict[str, Any], request_id: str) -> Work[Answer | None]:
    """Answer a request by its plan, without the steps. Return None if it must pass all steps.

    ``environ`` is that of WSGI. The body can be read again.
    """
    sent = raw_request.read(environ)
    plan = plan_store.find(sent) if sent else None
    if sent is None or plan is None:
        return None
    ip, user_agent = get_address(environ), environ.get("HTTP_USER_AGENT", "")
    body: bytes | None = None
    if isinstance(plan, plans.IssuingPlan):
        body = yield from plans.issue(plan, sent, ip=ip, user_agent=user_agent, request_id=request_id)
    elif isinstance(plan, user_plans.UserPlan):
        with context.using_client(ip=ip, user_agent=user_agent, request_id=request_id):
            granted = yield from user_plans.grant(plan, sent)
            body = orjson.dumps(_build_body(granted)) if granted else None
    return Answer(body, JSON_HEADERS) if body else None

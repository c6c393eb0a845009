"""The token endpoint (RFC 6749 section 3.2): the steps of a request, in their order.

``engine`` has oauthlib call the three in the middle, through the hooks of ``Validator``. Between them
oauthlib makes its own checks: that a code or refresh token was sent, and that the PKCE verifier belongs to
the challenge.
"""

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse

from oidc.grants import families
from oidc.provider import client_authentication, custom_claims, errors, parameters, tokens
from oidc.provider.error_responses import oauth_json
from oidc.provider.token import authorization_code, client_cache, client_credentials, refresh_token
from oidc.provider.token.request import AuthenticatedClient, Grant, Granted, TokenRequest

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


def authenticate_client(request: TokenRequest) -> AuthenticatedClient:
    """Return the request with its authenticated client (RFC 6749 section 3.2.1).

    Raises:
        errors.InvalidClient: the client is unknown, or its credentials are wrong.
        errors.InvalidRequest: both the header and the body have a secret.
        client_cache.Outdated: the credentials are wrong for a cached client, which may have changed.

    """
    credentials = client_authentication.read_credentials(request.authorization, request.parameters)
    found = request.grant.find_client(request, credentials.client_id)
    if found is None or not client_authentication.is_authentic(found.client, credentials):
        if found and found.is_cached:
            raise client_cache.Outdated
        raise errors.InvalidClient(client_id=credentials.client_id)
    return AuthenticatedClient(
        request,
        found.client,
        found.presented,
        is_proven=client_authentication.is_proof_needed(found.client, credentials),
        is_cached=found.is_cached,
    )


def check_grant_type(client: AuthenticatedClient) -> None:
    """Check that the client may use the grant type (RFC 6749 section 5.2).

    Raises:
        errors.UnauthorizedClient: the client may not use it.

    """
    if client.request.grant_type not in client.client.application.grant_types:
        raise errors.UnauthorizedClient


def handle_grant(client: AuthenticatedClient) -> Granted:
    """Decide what is granted, and store it. The module of the grant does both.

    Raises:
        errors.OAuthError: nothing is granted.
        SigningKey.DoesNotExist: the signing key was deleted; nothing was granted.

    """
    return client.request.grant.handle(client)


def build_answer(granted: Granted) -> HttpResponse:
    """Return the tokens (RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3)."""
    context = granted.context
    access_token = tokens.build_access_token(context)
    answer: dict[str, object] = {
        "access_token": access_token,
        "token_type": "Bearer",
        "expires_in": context.lifetime,
        "scope": " ".join(context.all_scopes),
    }
    if granted.family is not None:
        answer["refresh_token"] = families.build_token(granted.family)
    if context.has_id_token:
        answer["id_token"] = tokens.build_id_token(context, access_token)
    custom_claims.record_omissions(context.application.pk, context.facts.omitted)
    return oauth_json(answer)


STEPS: Final = (parse_request, authenticate_client, check_grant_type, handle_grant, build_answer)

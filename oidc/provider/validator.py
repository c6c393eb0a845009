"""The toolkit's validator with our answers: each hook asks one question of our storage.

Hooks run in the order oauthlib calls them; what they found stays on the request
(``client``, ``code_row``, ``family``, ``presented``), so that nothing is read twice.
"""

from typing import Any, Literal, NoReturn

from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request

from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.provider import client_authentication, scopes, tokens


class Unused:
    """A hook that nothing here asks: it refuses, where the toolkit would answer from tables of its own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse.

        Raises:
            NotImplementedError: always, as oauthlib's own hooks do.

        """
        raise NotImplementedError(f"{self.name} is a hook of the toolkit that Gatehouse does not use")


class Validator(OAuth2Validator):  # type: ignore[misc]  # the toolkit is untyped
    """Answers oauthlib's questions from tenant-scoped rows, and stores no tokens."""

    # Who asks

    def client_authentication_required(self, request: Request, *_: object, **__: object) -> Literal[True]:
        """Send every client through one check, which knows what each type must present."""
        return True

    def authenticate_client(self, request: Request, *_: object, **__: object) -> bool:
        """Authenticate by Basic or body."""
        return client_authentication.authenticate(request)

    def authenticate_client_id(self, *_: object, **__: object) -> bool:
        """Never trust a bare client id."""
        return False

    def validate_client_id(self, client_id: str, request: Request, *_: object, **__: object) -> bool:
        """Find the application at the authorization endpoint."""
        known: Application | None = request.known
        is_it = known is not None and known.client_id == client_id
        request.client = known if is_it else client_authentication.find(client_id)
        return request.client is not None

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Application, request: Request, **_: object
    ) -> bool:
        """Let an application use the grants it was given."""
        return grant_type in client.grant_types

    # The authorization request

    def validate_redirect_uri(self, client_id: str, redirect_uri: str, request: Request, **_: object) -> bool:
        """Accept registered URIs only."""
        application: Application = request.client
        return redirect_uris.matches(redirect_uri, application.redirect_uris, application.type)

    def get_default_redirect_uri(self, client_id: str, request: Request, **_: object) -> None:
        """Have none: the interface requires the parameter."""

    def validate_response_type(
        self, client_id: str, response_type: str, client: Application, request: Request, **_: object
    ) -> bool:
        """Let an application use codes if it may redeem them."""
        return "authorization_code" in client.grant_types

    def validate_scopes(
        self, client_id: str, requested: list[str], client: Application, request: Request, **_: object
    ) -> bool:
        """Ask for ``openid`` at the authorization endpoint; elsewhere unknown words are dropped."""
        return request.grant_type is not None or scopes.OPENID in requested

    def get_default_scopes(self, client_id: str, request: Request, **_: object) -> list[str]:
        """Have none: a scope is asked for."""
        return []

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        """Ask SPA and native applications for PKCE (RFC 9700 section 2.1.1)."""
        application: Application = request.client
        return application.must_use_pkce

    def validate_user_match(self, *_: object) -> Literal[True]:
        """Leave the hint to the authorization view, which knows the browser's session."""
        return True

    def validate_silent_login(self, request: Request) -> Literal[True]:
        """Leave ``prompt=none`` to the authorization view."""
        return True

    def validate_silent_authorization(self, request: Request) -> Literal[True]:
        """Leave ``prompt=none`` to the authorization view."""
        return True

    # The authorization code

    def validate_code(
        self, client_id: str, code: str, client: Application, request: Request, **_: object
    ) -> bool:
        """Take a code of this client that is in time, or was used: what that means is decided last."""
        row = request.code_row  # found with the client
        if row is None:
            return False
        request.scopes = row.scope.split()
        return row.consumed_at is not None or bool(row.is_live)

    def get_code_challenge(self, code: str, request: Request) -> str | None:
        """Return the challenge of the authorization request, if it had one."""
        return request.code_row.code_challenge or None

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        """Return the only method there is."""
        return "S256"

    def confirm_redirect_uri(
        self,
        client_id: str,
        code: str,
        redirect_uri: str,
        client: Application,
        request: Request,
        *_: object,
        **__: object,
    ) -> bool:
        """Ask for the very URI of the authorization request (RFC 6749 section 4.1.3), still registered."""
        return bool(redirect_uri == request.code_row.redirect_uri) and redirect_uris.matches(
            redirect_uri, client.redirect_uris, client.type
        )

    def get_authorization_code_nonce(self, *args: Any) -> str | None:
        """Have the grant context carry the nonce instead."""
        return None

    def invalidate_authorization_code(self, *_: object, **__: object) -> None:
        """Do nothing: the code was consumed before anything was issued."""

    # The refresh token

    def validate_refresh_token(
        self, refresh_token: str, client: Application, request: Request, *_: object, **__: object
    ) -> bool:
        """Take the live family of a token that we made for this client."""
        return request.family is not None and bool(request.family.is_live)  # found with the client

    def get_original_scopes(self, refresh_token: str, request: Request, *_: object, **__: object) -> str:
        """Return what the family was granted."""
        return str(request.family.scope)

    def is_within_original_scope(self, *_: object, **__: object) -> Literal[True]:
        """Drop words outside of the grant later, instead of refusing the request."""
        return True

    def rotate_refresh_token(self, request: Request) -> Literal[True]:
        """Rotate always."""
        return True

    # What is issued

    def save_bearer_token(self, token: dict[str, Any], request: Request, *_: object, **__: object) -> None:
        """Store nothing: families and consumed codes were written before."""

    def refresh_id_token(self, request: Request) -> Literal[True]:
        """Give a fresh ID token at every refresh that keeps ``openid``."""
        return True

    def get_id_token(self, token: dict[str, Any], token_handler: object, request: Request) -> str:
        """Return the signed ID token."""
        return tokens.id_token(request.grant, token["access_token"])

    # What the toolkit offers beyond that (decision N19): other grants, other endpoints, its own rows

    build_http_request = Unused()
    finalize_id_token = Unused()
    get_additional_claims = Unused()
    get_authorization_code_scopes = Unused()
    get_claim_dict = Unused()
    get_discovery_claims = Unused()
    get_id_token_dictionary = Unused()
    get_jwt_bearer_token = Unused()
    get_oidc_claims = Unused()
    get_oidc_issuer_endpoint = Unused()
    get_or_create_user_from_content = Unused()
    get_userinfo_claims = Unused()
    introspect_token = Unused()
    is_origin_allowed = Unused()
    revoke_token = Unused()
    save_authorization_code = Unused()
    validate_bearer_token = Unused()
    validate_id_token = Unused()
    validate_jwt_bearer_token = Unused()
    validate_user = Unused()

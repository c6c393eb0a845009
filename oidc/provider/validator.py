"""The toolkit's validator with our answers: each hook is one question that oauthlib asks.

What is known of a request is at its attribute ``stage``, one typed value: see ``token.request`` and
``authorization.checks``.
"""

from typing import Literal, NoReturn

from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request

from oidc.applications.models import Application
from oidc.provider.authorization import checks
from oidc.provider.token import authorization_code, endpoint, refresh_token


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

    # A token request: its second and third step

    def client_authentication_required(self, request: Request, *_: object, **__: object) -> Literal[True]:
        """Send every client through one check, which knows what each type must present."""
        return True

    def authenticate_client(self, request: Request, *_: object, **__: object) -> Literal[True]:
        """Authenticate by Basic or body. oauthlib compares the client's id with the request's."""
        request.stage = client = endpoint.authenticate_client(request.stage)
        request.client = client.client.application
        request.client_id = request.client.client_id
        return True

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Application, request: Request, **_: object
    ) -> Literal[True]:
        """Check that the application may use the grant."""
        endpoint.check_grant_type(request.stage)
        return True

    # An authorization code

    def validate_code(
        self, client_id: str, code: str, client: Application, request: Request, **_: object
    ) -> Literal[True]:
        """Check that the code was issued to this client and has not expired."""
        authorization_code.find_valid_code(request.stage)
        return True

    def get_code_challenge(self, code: str, request: Request) -> str | None:
        """Return the challenge of the authorization request, if it had one."""
        return authorization_code.challenge_of(request.stage)

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        """Return the only method there is (OAuth 2.1 section 4.1.1)."""
        return "S256"

    def confirm_redirect_uri(
        self, client_id: str, code: str, redirect_uri: str, client: Application, request: Request, **_: object
    ) -> Literal[True]:
        """Check that the redirect URI is that of the authorization request."""
        authorization_code.check_redirect_uri(request.stage, redirect_uri)
        return True

    # A refresh token

    def validate_refresh_token(
        self, refresh_token_: str, client: Application, request: Request, *_: object, **__: object
    ) -> Literal[True]:
        """Check that the token was issued to this client and that its family is live."""
        refresh_token.find_live_token(request.stage)
        return True

    def get_original_scopes(self, refresh_token_: str, request: Request, *_: object, **__: object) -> str:
        """Return what the family was granted."""
        return refresh_token.find_live_token(request.stage).family.row.scope

    def is_within_original_scope(self, *_: object, **__: object) -> Literal[True]:
        """Drop scopes outside of the grant later, instead of refusing the request."""
        return True

    # An authorization request

    def validate_client_id(self, client_id: str, request: Request, *_: object, **__: object) -> Literal[True]:
        """Find the application."""
        request.stage = checked = checks.check_client(request.stage)
        request.client = checked.application
        return True

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Request, **_: object
    ) -> Literal[True]:
        """Accept registered URIs only."""
        checks.check_redirect_uri(request.stage)
        return True

    def validate_response_type(self, *_: object, **__: object) -> Literal[True]:
        """Leave it to ``checks.check_grant_type``, which has passed."""
        return True

    # Both

    def get_default_redirect_uri(self, *_: object, **__: object) -> None:
        """Have none: the interface requires the parameter."""

    def validate_scopes(self, *_: object, **__: object) -> Literal[True]:
        """Leave them to ``checks.check_scope``. A token request's unknown scopes are dropped."""
        return True

    def get_default_scopes(self, *_: object, **__: object) -> list[str]:
        """Have none: a scope is asked for."""
        return []

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        """Require PKCE of SPA and native applications (RFC 9700 section 2.1.1)."""
        application: Application = request.client
        return application.must_use_pkce

    # What the toolkit offers beyond that (decision N19): other grants and endpoints, its own rows and answers

    authenticate_client_id = Unused()
    build_http_request = Unused()
    finalize_id_token = Unused()
    get_additional_claims = Unused()
    get_authorization_code_nonce = Unused()
    get_authorization_code_scopes = Unused()
    get_claim_dict = Unused()
    get_discovery_claims = Unused()
    get_id_token = Unused()
    get_id_token_dictionary = Unused()
    get_jwt_bearer_token = Unused()
    get_oidc_claims = Unused()
    get_oidc_issuer_endpoint = Unused()
    get_or_create_user_from_content = Unused()
    get_userinfo_claims = Unused()
    introspect_token = Unused()
    invalidate_authorization_code = Unused()
    is_origin_allowed = Unused()
    refresh_id_token = Unused()
    revoke_token = Unused()
    rotate_refresh_token = Unused()
    save_authorization_code = Unused()
    save_bearer_token = Unused()
    validate_bearer_token = Unused()
    validate_id_token = Unused()
    validate_jwt_bearer_token = Unused()
    validate_silent_authorization = Unused()
    validate_silent_login = Unused()
    validate_user = Unused()
    validate_user_match = Unused()

"""oauthlib's request, and the hooks that oauthlib calls while it validates one.

The attribute ``stage`` of oauthlib's request has what is known so far, as one typed value (see
``token.request`` and ``authorization.checks``). A hook returns, or raises the error of the response.
"""

from collections.abc import Iterable
from typing import Literal, NoReturn

from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request

from oidc.applications.models import Application
from oidc.provider.authorization import checks
from oidc.provider.token import authorization_code, endpoint, refresh_token


class OAuthRequest(Request):  # type: ignore[misc]  # oauthlib is untyped
    """oauthlib's request, with one value for each parameter.

    ``Parameters`` keeps the first value of each name, and ``checks.check_repetition`` and ``parameters.form``
    refuse repeated ones. So oauthlib need not look for them, which it does once for each parameter that must
    be unique. Nor need it decode them: they are text.
    """

    def __init__(self, uri: str, http_method: str, parameters: Iterable[tuple[str, str]]) -> None:
        super().__init__(uri, http_method, encoding=None)
        self._params.update(parameters)

    @property
    def duplicate_params(self) -> list[str]:
        """The names of repeated parameters: none."""
        return []


class Unused:
    """A hook that no request reaches. It raises an error; the toolkit's own would read a missing table."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Raise an error with the name of the hook.

        Raises:
            NotImplementedError: always, as oauthlib's own hooks do.

        """
        raise NotImplementedError(f"{self.name} is a hook of the toolkit that Gatehouse does not use")


class Validator(OAuth2Validator):  # type: ignore[misc]  # the toolkit is untyped
    """Our implementation of the hooks. It reads only rows of the active tenant, and stores no tokens."""

    # Every token request

    def client_authentication_required(self, request: Request, *_: object, **__: object) -> Literal[True]:
        """Have ``authenticate_client`` called for public clients too."""
        return True

    def authenticate_client(self, request: Request, *_: object, **__: object) -> Literal[True]:
        """Authenticate the client, and set what oauthlib reads of it."""
        request.stage = authenticated = endpoint.authenticate_client(request.stage)
        request.client = authenticated.application
        request.client_id = request.client.client_id
        return True

    def validate_grant_type(
        self, client_id: str, grant_type: str, client: Application, request: Request, **_: object
    ) -> Literal[True]:
        """Check that the client may use the grant."""
        endpoint.check_grant_type(request.stage)
        return True

    # An authorization code

    def validate_code(
        self, client_id: str, code: str, client: Application, request: Request, **_: object
    ) -> Literal[True]:
        """Check that the code was issued to this client and has not expired."""
        authorization_code.find_live_or_used_code(request.stage)
        return True

    def get_code_challenge(self, code: str, request: Request) -> str | None:
        """Return the challenge of the authorization request, if it had one."""
        return authorization_code.get_challenge(request.stage)

    def get_code_challenge_method(self, code: str, request: Request) -> str:
        """Return S256, the only supported method (OAuth 2.1 section 4.1.1)."""
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
        """Check that the token was issued to this client and that its family can be refreshed."""
        refresh_token.find_refreshable_token(request.stage)
        return True

    def get_original_scopes(self, refresh_token_: str, request: Request, *_: object, **__: object) -> str:
        """Return the scope that the family was granted."""
        return refresh_token.find_refreshable_token(request.stage).family.row.scope

    def is_within_original_scope(self, *_: object, **__: object) -> Literal[True]:
        """Accept every scope. ``refresh_token.handle`` drops those that the family does not have."""
        return True

    # An authorization request

    def validate_client_id(self, client_id: str, request: Request, *_: object, **__: object) -> Literal[True]:
        """Check that the client exists, and set what oauthlib reads of it."""
        request.stage = checked = checks.check_client(request.stage)
        request.client = checked.application
        return True

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Request, **_: object
    ) -> Literal[True]:
        """Check that the redirect URI is registered."""
        checks.check_redirect_uri(request.stage)
        return True

    def validate_response_type(self, *_: object, **__: object) -> Literal[True]:
        """Accept every response type. ``checks.check_response_type`` has checked it."""
        return True

    # Token and authorization requests

    def get_default_redirect_uri(self, *_: object, **__: object) -> None:
        """Return None: the parameter is required."""

    def validate_scopes(self, *_: object, **__: object) -> Literal[True]:
        """Accept every scope. ``checks.check_scope`` checks it; token requests ignore unknown scopes."""
        return True

    def get_default_scopes(self, *_: object, **__: object) -> list[str]:
        """Return no scope: there is no default."""
        return []

    def is_pkce_required(self, client_id: str, request: Request) -> bool:
        """Return whether the client must use PKCE, as SPA and native applications must (RFC 9700 2.1.1)."""
        application: Application = request.client
        return application.must_use_pkce

    # Other grants, endpoints and tables of the toolkit (decision N19)

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

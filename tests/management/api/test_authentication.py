"""Who a token of the management API belongs to, and what the audit log is told of it."""

from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied

from management.administrators import tokens
from management.administrators.models import Administrator
from management.api.authentication import ManagementAuthentication
from oidc.provider.bearer import InvalidBearer
from oidc.provider.client_principal import ClientPrincipal, NotAClientToken

ADMINISTRATOR = Administrator(pk=7)
MACHINE = ClientPrincipal(SimpleNamespace(pk="app"), {}, {})  # type: ignore[arg-type]


@pytest.fixture
def actors(monkeypatch):
    """Let the texts ``admin`` and ``machine`` be tokens, and return what the audit log is told."""
    told: list[dict[str, Any]] = []

    def get_administrator(text):
        if text != "admin":
            raise tokens.InvalidToken
        return ADMINISTRATOR

    def authenticate(text, choose_query):
        if text == "user":
            raise NotAClientToken
        if not text.endswith("machine"):
            raise InvalidBearer("altered")
        return MACHINE

    monkeypatch.setattr(tokens, "is_of_administrator", lambda text: text.startswith("admin"))
    monkeypatch.setattr(tokens, "get_administrator", get_administrator)
    monkeypatch.setattr("oidc.provider.client_principal.authenticate", authenticate)
    monkeypatch.setattr("audit.context.set_actor", lambda **actor: told.append(actor))
    return told


def authenticate(header):
    meta = {} if header is None else {"HTTP_AUTHORIZATION": header}
    return ManagementAuthentication().authenticate(SimpleNamespace(META=meta))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "caller", "actor"),
    [
        ("Bearer admin", ADMINISTRATOR, {"administrator_id": 7}),
        ("bearer  admin ", ADMINISTRATOR, {"administrator_id": 7}),
        ("BEARER machine", MACHINE, {"application_id": "app"}),
    ],
)
def test_a_good_token_names_the_caller_and_the_actor(actors, header, caller, actor):
    assert authenticate(header) == (caller, None)
    assert actors == [actor]


def test_no_header_names_nobody(actors):
    assert authenticate(None) is None
    assert actors == []


@pytest.mark.parametrize(
    ("header", "refusal"),
    [
        ("", NotAuthenticated),
        ("Bearer", NotAuthenticated),
        ("Bearer   ", NotAuthenticated),
        ("Basic admin", NotAuthenticated),
        ("Basic machine", NotAuthenticated),
        ("admin", NotAuthenticated),
        ("Bearer administrator", AuthenticationFailed),
        ("Bearer x", AuthenticationFailed),
        ("Bearer admin-machine", AuthenticationFailed),  # no second chance as a machine
        ("Bearer user", PermissionDenied),
    ],
)
def test_anything_else_is_refused(actors, header, refusal):
    with pytest.raises(refusal):
        authenticate(header)

    assert actors == []


def test_the_refusal_says_what_to_do(actors):
    with pytest.raises(AuthenticationFailed, match="the token is invalid or expired: sign in again"):
        authenticate("Bearer administrator")
    with pytest.raises(PermissionDenied, match="does not accept end users' tokens"):
        authenticate("Bearer user")


def test_the_challenge_is_that_of_rfc_6750():
    challenge = ManagementAuthentication().authenticate_header(SimpleNamespace())  # type: ignore[arg-type]
    assert challenge == 'Bearer realm="gatehouse"'

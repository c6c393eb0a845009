"""Client authentication (RFC 6749 section 2.3): Basic or body, never both, by type of application."""

import base64
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus

from django.db.models import Exists, OuterRef, Subquery
from oauthlib.common import Request
from oauthlib.oauth2 import InvalidClientError, InvalidRequestError

from identity.core.tenant_statements import Select, text
from oidc.applications import services as applications
from oidc.applications.models import Application, ApplicationRole
from oidc.grants import codes, families
from oidc.keys.models import SigningKey
from oidc.provider.token import client_cache

_LONGEST_HEADER: Final = 4096


@dataclass(frozen=True, slots=True)
class Presented:
    """The credentials that came with a request."""

    client_id: str
    secret: str


_BY_CLIENT_ID: Final = Select(
    lambda: Application.objects.filter(client_id=text("client_id")).annotate(
        active_key_id=Subquery(SigningKey.objects.active().values("pk")[:1]),
        has_roles=Exists(ApplicationRole.objects.filter(application=OuterRef("pk"))),
    )[:1]
)


def find(client_id: str) -> Application | None:
    """Return the application of a client id, with ``active_key_id`` and ``has_roles``, in one query."""
    return _BY_CLIENT_ID.first(client_id=client_id) if _is_well_formed(client_id) else None


def authenticate(request: Request) -> bool:
    """Put the authenticated application on the request as ``client``; false when it is not proven."""
    presented = _presented(request)
    request.client_id = presented.client_id  # who they said they are, for the audit log
    application = _application(request, presented.client_id)
    if application is None:
        return False
    proof_needed = application.must_present_secret or presented.secret
    if proof_needed and not applications.secret_is_right(application, presented.secret):
        return False
    request.client = application
    request.is_client_proven = bool(proof_needed)
    return True


def _application(request: Request, client_id: str) -> Application | None:
    """Return the application of a client id; a code or refresh token of its own comes in the same query.

    What was found is put on the request, for when the client turns out to be who it says it is.
    """
    request.code_row = request.family = request.presented = None
    if getattr(request, "is_optimistic", False) and request.grant_type == "client_credentials":
        request.remembered = client_cache.find(client_id)
        if request.remembered is not None:
            return request.remembered  # type: ignore[no-any-return]  # oauthlib is untyped
    grant = _grant(request, client_id) if _is_well_formed(client_id) else None
    if grant is None:
        return find(client_id)
    application: Application = grant.application
    application.active_key_id = grant.active_key_id  # type: ignore[attr-defined]  # as annotated by find
    return application


def _grant(request: Request, client_id: str) -> Any:
    if request.grant_type == "authorization_code" and request.code:
        request.code_row = codes.find(request.code, client_id=client_id)
        return request.code_row
    if request.grant_type == "refresh_token" and request.refresh_token:
        request.presented = families.read(request.refresh_token)
        if request.presented is not None:
            request.family = families.find(request.presented.family_id, client_id=client_id)
    return request.family


def _is_well_formed(client_id: str) -> bool:
    return client_id.isascii() and client_id.isprintable()


def _presented(request: Request) -> Presented:
    header = request.headers.get("Authorization")
    body = Presented(request.client_id or "", request.client_secret or "")
    if header is None:
        return body
    basic = _basic(header)
    if body.secret:
        # RFC 6749 section 2.3: the client MUST NOT use more than one authentication method.
        raise InvalidRequestError(
            description="Credentials came both in the Authorization header and in the body.", request=request
        )
    if body.client_id and body.client_id != basic.client_id:
        raise InvalidClientError(
            description="The client_id of the body is not that of the Authorization header.", request=request
        )
    return basic


def _basic(header: str) -> Presented:
    scheme, _, text = header.partition(" ")
    if scheme.lower() != "basic" or len(header) > _LONGEST_HEADER:
        raise InvalidClientError(description="The Authorization header must use the Basic scheme.")
    try:
        client_id, colon, secret = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except ValueError:  # not ASCII, not Base64, or not UTF-8 inside
        raise InvalidClientError(description="The Authorization header is not valid Basic.") from None
    if not colon:
        raise InvalidClientError(description="The Authorization header is not valid Basic.")
    # RFC 6749 section 2.3.1: both are form-urlencoded before they are joined.
    return Presented(unquote_plus(client_id), unquote_plus(secret))

"""The four cookies of a browser. Each tenant has its own.

``session`` holds the secret of the session. Each sign-in sets a new one. ``browser`` holds a random secret
that binds pending requests to the browser and identifies no user. A sign-in keeps it, so that requests in
other tabs stay valid. ``proofs`` holds the secrets that the browser got with each proof: see
``proof_secrets``. ``known`` holds MACs of the users who signed in with the browser before, and secrets of
the browser: see ``known_users``.
"""

import secrets
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from identity.core import tenancy
from identity.sessions import known_users, proof_secrets, services
from identity.sessions.known_users import NO_KNOWN_USERS, KnownUsers
from identity.sessions.models import Session
from identity.sessions.proof_secrets import ProofSecret
from identity.users.models import User

_BROWSER_SECONDS: Final = 24 * 3600
_LONGEST_SECONDS: Final = 400 * 24 * 3600  # that browsers keep a cookie (RFC 6265bis)
_MAX_LENGTH: Final = {"session": 128, "browser": 128, "proofs": proof_secrets.MAX_LENGTH, "known": 2048}


def _name(kind: str) -> str:
    # With this prefix browsers refuse the cookie unless it is Secure, for this host only and for every
    # path (RFC 6265bis 4.1.3.2). So another host of the same domain cannot set it.
    host = "__Host-" if settings.BASE_URL.startswith("https:") else ""
    return f"{host}gatehouse-{kind}.{tenancy.active().slug}"


def _read(request: HttpRequest, kind: str) -> str:
    value = request.COOKIES.get(_name(kind), "")
    return value if len(value) <= _MAX_LENGTH[kind] else ""


def _write(response: HttpResponseBase, kind: str, value: str, seconds: int | None) -> None:
    response.set_cookie(
        _name(kind),
        value,
        max_age=seconds,
        secure=settings.BASE_URL.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )


def current_session(request: HttpRequest) -> Session | None:
    """Return the live session of the browser in this tenant, with its user."""
    token = get_session_token(request)
    return services.find(token) if token else None


def get_session_token(request: HttpRequest) -> str:
    """Return the secret of the browser's session, or an empty string."""
    return _read(request, "session")


def has_session(request: HttpRequest) -> bool:
    """Return whether the browser sent the secret of a session, live or not."""
    return _name("session") in request.COOKIES


def get_known_users(request: HttpRequest) -> KnownUsers:
    """Return the users who signed in with this browser before."""
    value = _read(request, "known")
    return known_users.parse(value) if value else NO_KNOWN_USERS


def set_sign_in(  # noqa: PLR0913 - the parts of three cookies
    request: HttpRequest,
    response: HttpResponseBase,
    user: User,
    token: str,
    *,
    seconds: int | None,
    known: KnownUsers | None = None,
) -> None:
    """Set the secret of a new session and one for its proof, and add the user to the known users.

    ``known`` are the browser's known users if the sign-in has changed them. The cookie of the session lives
    for ``seconds``, or until the browser closes: see ``lifetimes.get_cookie_seconds``.
    """
    _write(response, "session", token, seconds)
    _write(response, "known", (known or get_known_users(request)).cookie_with(user), _LONGEST_SECONDS)
    add_proof(request, response, proof_secrets.new())


def delete_sign_in(response: HttpResponseBase) -> None:
    """Delete the ``session``, ``browser`` and ``proofs`` cookies, and keep ``known``."""
    for kind in ("session", "browser", "proofs"):
        _write(response, kind, "", 0)


def get_browser(request: HttpRequest) -> str:
    """Return the hash that identifies this browser, or an empty string for a new browser."""
    token = _read(request, "browser")
    return services.hash_token(token) if token else ""


def new_browser(response: HttpResponseBase) -> str:
    """Set a new secret for the browser, and return the hash that identifies it."""
    token = secrets.token_urlsafe(32)
    _write(response, "browser", token, _BROWSER_SECONDS)
    return services.hash_token(token)


def get_proofs(request: HttpRequest) -> tuple[str, ...]:
    """Return the hashes of the secrets that this browser got with its proofs, the newest first."""
    return proof_secrets.get_hashes(_read(request, "proofs"))


def get_newest_proof(request: HttpRequest) -> str | None:
    """Return the hash of the newest of these secrets; None for a browser in which nothing was proven."""
    return next(iter(get_proofs(request)), None)


def add_proof(request: HttpRequest, response: HttpResponseBase, secret: ProofSecret) -> None:
    """Give the browser the new secret of a proof. It also identifies a browser that had no cookie.

    Authorization requests need the newest secret, so the cookie must not expire before them.
    """
    _write(response, "proofs", proof_secrets.add(_read(request, "proofs"), secret), _LONGEST_SECONDS)
    if not get_browser(request):
        _write(response, "browser", secret.token, _BROWSER_SECONDS)

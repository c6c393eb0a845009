"""The three cookies of a browser, each named after its tenant.

``session`` says who is signed in; each sign-in gives it a new secret. ``browser`` says
nothing about anybody: it ties pending requests to the browser they began in. A sign-in
keeps it, so that other tabs of the same browser lose nothing. ``known`` says, in MACs, whom the
browser signed in before: see ``known_people``.
"""

import hashlib
import secrets
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from identity.core import tenancy
from identity.sessions import services
from identity.sessions.known_people import NOBODY_KNOWN, KnownPeople
from identity.sessions.known_people import read as known_people_of
from identity.sessions.models import Session
from identity.users.models import User

_BROWSER_SECONDS: Final = 24 * 3600
_KNOWN_SECONDS: Final = 400 * 24 * 3600  # as long as browsers keep a cookie
_LONGEST: Final = 128
_LONGEST_KNOWN: Final = 1024


def _name(kind: str) -> str:
    # The prefix makes browsers refuse the cookie unless it is Secure, for this host alone and
    # for every path (RFC 6265bis 4.1.3.2): no sibling host can plant one.
    host = "__Host-" if settings.BASE_URL.startswith("https:") else ""
    return f"{host}gatehouse-{kind}.{tenancy.active().slug}"


def _read(request: HttpRequest, kind: str) -> str:
    value = request.COOKIES.get(_name(kind), "")
    return value if len(value) <= (_LONGEST_KNOWN if kind == "known" else _LONGEST) else ""


def _write(response: HttpResponseBase, kind: str, value: str, seconds: int) -> None:
    response.set_cookie(
        _name(kind),
        value,
        max_age=seconds,
        secure=settings.BASE_URL.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )


def current_session(request: HttpRequest) -> Session | None:
    """Return the live session of this browser in this tenant, with its user."""
    token = _read(request, "session")
    return services.find(token) if token else None


def remember_session(response: HttpResponseBase, token: str) -> None:
    """Hand the browser the secret of its new session."""
    _write(response, "session", token, settings.SESSION_ABSOLUTE_SECONDS)


def known_people(request: HttpRequest) -> KnownPeople:
    """Return the people whom this browser signed in before."""
    value = _read(request, "known")
    return known_people_of(value) if value else NOBODY_KNOWN


def remember_sign_in(request: HttpRequest, response: HttpResponseBase, user: User, token: str) -> None:
    """Hand the browser the secret of its new session, and note that it knows the user."""
    remember_session(response, token)
    _write(response, "known", known_people(request).with_user(user), _KNOWN_SECONDS)


def forget(response: HttpResponseBase) -> None:
    """Take the cookies of the sign-in from the browser. It still knows who signed in."""
    for kind in ("session", "browser"):
        _write(response, kind, "", 0)


def has_session_cookie(request: HttpRequest) -> bool:
    """Tell whether the browser brought a session cookie at all, live or not."""
    return bool(_read(request, "session"))


def browser_of(request: HttpRequest) -> str:
    """Return the hash that stands for this browser, or nothing for a new one."""
    token = _read(request, "browser")
    return hashlib.sha256(token.encode()).hexdigest() if token else ""


def new_browser(response: HttpResponseBase) -> str:
    """Give the browser a fresh mark and return the hash that stands for it."""
    token = secrets.token_urlsafe(32)
    _write(response, "browser", token, _BROWSER_SECONDS)
    return hashlib.sha256(token.encode()).hexdigest()

"""The server-rendered front door for end users. Works without JavaScript."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_http_methods, require_safe

from identity.core.errors import ServiceError
from identity.sessions import cookies
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import brand as branding
from interaction.experience import services as experience
from interaction.journeys import consent as consenting
from interaction.journeys import pending as waiting
from interaction.journeys import sign_in as signing_in
from interaction.journeys.pending import Pending
from interaction.pages import words
from interaction.pages.forms import SignInForm
from oidc.grants import requests
from oidc.provider.views.authorize import gone, redirect


def _found(request: HttpRequest) -> Pending | None:
    given = request.POST if request.method == "POST" else request.GET
    return waiting.find(request, given.get("interaction", ""))


def _page(
    request: HttpRequest, template: str, pending: Pending | None, status: int = 200, **shown: object
) -> HttpResponse:
    """Render a page that belongs to a pending request, and let its form lead to the application."""
    application = pending and {
        "name": pending.application.name,
        "site": pending.site,
        "is_third_party": pending.application.is_third_party,
    }
    response = render(
        request,
        f"interaction/{template}.html",
        {"application": application, "interaction": pending.parked.pk if pending else "", **shown},
        status=status,
    )
    response["Cache-Control"] = "no-store"
    response.form_targets = pending.form_targets if pending else ()  # type: ignore[attr-defined]
    return response


def _person(user: User) -> dict[str, str]:
    return {
        "name": user.name,
        "username": user.username,
        "email": user.email,
        "phone": user.phone,
        "identifier": user.identifier,
        "initial": user.display_name[:1].upper(),
    }


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the account page."""
    return redirect(reverse("pages:account"))


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask who is there."""
    try:
        pending = _found(request)
    except waiting.Expired:
        return gone(request)
    if request.method == "POST":
        return _sign_in(request, pending)
    form = SignInForm(initial={"identifier": pending.asked.login_hint[:254] if pending else ""})
    return _sign_in_page(request, pending, form)


def _sign_in(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _sign_in_page(request, pending, form, 400)
    try:
        signed_in = signing_in.with_password(
            **form.cleaned_data, pending=pending, current=cookies.current_session(request)
        )
    except ServiceError as error:
        form.add_error(None, _SENTENCES.get(error.reason, error.message))
        response = _sign_in_page(request, pending, form, error.status)
        for name, value in error.headers.items():
            response[name] = value
        return response
    response = redirect(signed_in.redirect_to)
    cookies.remember_session(response, signed_in.session_token)
    return response


_SENTENCES = {
    "invalid_credentials": "That does not match any account. Check both fields and try again.",
    "suspended": "Your account is suspended. Ask the people who run this service to open it again.",
    "overloaded": "Many people are signing in at this moment. Wait a few seconds and try again.",
}


def _sign_in_page(
    request: HttpRequest, pending: Pending | None, form: SignInForm, status: int = 200
) -> HttpResponse:
    return _page(
        request,
        "sign_in",
        pending,
        status,
        form=form,
        identifier_label="Username, email or phone",
        identifier_autocomplete="username",
    )


def _choice(request: HttpRequest, session: Session | None) -> str:
    """Return the button that was pressed, if it was on a page of this very session.

    Somebody else may have signed in in another tab since: they are shown a page of their own.
    """
    shown = session is not None and request.POST.get("session") == str(session.pk)
    return request.POST.get("choice", "") if shown else ""


@require_http_methods(["GET", "HEAD", "POST"])
def select_account(request: HttpRequest) -> HttpResponse:
    """Ask which account to go on with."""
    try:
        pending = _found(request)
    except waiting.Expired:
        return gone(request)
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    choice = _choice(request, session)
    if session is None or choice == "other":
        return redirect(f"{reverse('pages:sign-in')}?interaction={pending.parked.pk}")
    if choice == "continue":
        requests.note_account(pending.parked, session)
        return redirect(pending.resume)
    return _page(request, "select_account", pending, accounts=[_person(session.user)], session_id=session.pk)


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest) -> HttpResponse:
    """Ask whether the application may have what it asks for."""
    try:
        pending = _found(request)
    except waiting.Expired:
        return gone(request)
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    if session is None:
        return redirect(pending.resume)
    choice = _choice(request, session)
    if choice == "allow":
        return redirect(consenting.allow(session, pending))
    if choice == "deny":
        return redirect(consenting.deny(pending))
    return _page(
        request,
        "consent",
        pending,
        user=_person(session.user),
        session_id=session.pk,
        scopes=words.described(pending.asked.scopes),
    )


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Show who is signed in here."""
    session = cookies.current_session(request)
    if session is None:
        return redirect(reverse("pages:sign-in"))
    return _page(
        request,
        "account",
        None,
        user=_person(session.user),
        session={
            "started_at": session.auth_time,
            "ip": session.ip,
            "user_agent": session.user_agent,
        },
    )


@require_safe
def brand(request: HttpRequest) -> HttpResponse:
    """Serve the tenant's colours as a stylesheet, so that no page needs an inline style."""
    colours = experience.current().branding
    css = branding.stylesheet(colours["primary_color"], colours["dark_primary_color"])
    response = HttpResponse(css, content_type="text/css; charset=utf-8")
    response["ETag"] = f'"{hashlib.sha256(css.encode()).hexdigest()[:32]}"'
    response["Cache-Control"] = "no-cache"
    conditional = get_conditional_response(request, etag=response["ETag"], response=response)
    assert isinstance(conditional, HttpResponse)  # noqa: S101 - a response was given
    return conditional

"""Which account, and may the application have what it asks for?"""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from identity.sessions import cookies
from interaction.journeys import consent as consenting
from interaction.journeys import pending as waiting
from interaction.pages import words
from interaction.pages.views import shared
from oidc.grants import requests
from oidc.provider.views.authorize import gone, redirect


@require_http_methods(["GET", "HEAD", "POST"])
def select_account(request: HttpRequest) -> HttpResponse:
    """Ask which account to go on with."""
    try:
        pending = shared.found(request)
    except waiting.Expired:
        return gone(request)
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    choice = shared.choice(request, session)
    if session is None or choice == "other":
        return redirect(f"{reverse('pages:sign-in')}?interaction={pending.parked.pk}")
    if choice == "continue":
        requests.note_account(pending.parked, session)
        return redirect(pending.resume)
    return shared.page(
        request, "select_account", pending, accounts=[shared.person(session.user)], session_id=session.pk
    )


@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest) -> HttpResponse:
    """Ask whether the application may have what it asks for."""
    try:
        pending = shared.found(request)
    except waiting.Expired:
        return gone(request)
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    if session is None:
        return redirect(pending.resume)
    choice = shared.choice(request, session)
    if choice == "allow":
        return redirect(consenting.allow(session, pending))
    if choice == "deny":
        return redirect(consenting.deny(pending))
    return shared.page(
        request,
        "consent",
        pending,
        user=shared.person(session.user),
        session_id=session.pk,
        scopes=words.described(pending.asked.scopes),
    )

"""The redirect to a social provider, and the provider's callback."""

from typing import Final
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from identity.core.errors import ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import expired_sign_in, handles_deletion, redirect
from identity.sessions import cookies
from interaction.journeys import pending as pending_requests
from interaction.journeys import same_origin
from interaction.journeys.pending import Pending
from interaction.journeys.social import linking
from interaction.journeys.social import sign_in as signing_in
from interaction.journeys.social.provider import Answer, redeem_attempt
from interaction.pages.views import shared
from interaction.social.models import SocialAttempt


@require_GET  # no HEAD: it starts a sign-in
@handles_deletion
def start(request: HttpRequest, connector_id: str) -> HttpResponse:
    """Redirect the browser to a provider."""
    if not same_origin.is_same_origin(request):
        raise PermissionDenied
    try:
        pending = pending_requests.find(request, request.GET.get("interaction", ""))
    except pending_requests.Expired:
        return expired_sign_in(request)
    response = redirect(_sign_in_url(pending))
    browser = cookies.get_browser(request) or cookies.new_browser(response)
    try:
        response["Location"] = signing_in.begin(connector_id=connector_id, browser=browser, pending=pending)
    except ServiceError as error:
        return _refuse(request, error, _sign_in_url(pending))
    return response


@require_GET  # no HEAD: it redeems the code
@handles_deletion
def callback(request: HttpRequest, pk: UUID | None = None) -> HttpResponse:
    """Receive a provider's response. ``pk`` is the connector of the callback URL."""
    parameters = {name: request.GET.get(name, "") for name in ("state", "code", "error", "iss")}
    state = parameters.pop("state")
    pending = None
    try:
        attempt = redeem_attempt(state=state, browser=cookies.get_browser(request), callback=pk)
        if attempt.interaction:
            pending = pending_requests.find(request, attempt.interaction)
    except pending_requests.Expired:
        return expired_sign_in(request)
    return _finish(request, attempt, state, Answer(**parameters), pending)


def _finish(
    request: HttpRequest, attempt: SocialAttempt, state: str, answer: Answer, pending: Pending | None
) -> HttpResponse:
    current = cookies.current_session(request)
    try:
        if attempt.session_id is not None:
            return redirect(linking.link(attempt, state=state, answer=answer, current=current))
        result = signing_in.sign_in(attempt, state=state, answer=answer, pending=pending, current=current)
    except pending_requests.Expired:
        return expired_sign_in(request)
    except ServiceError as error:
        back = reverse("pages:account") if attempt.session_id else _sign_in_url(pending)
        return _refuse(request, error, back)
    return shared.redirect_signed_in(request, result)


def _sign_in_url(pending: Pending | None) -> str:
    return shared.page_url("pages:sign-in", pending)


def _refuse(request: HttpRequest, error: ServiceError, back: str) -> HttpResponse:
    title, message = _MESSAGES.get(error.reason, _MESSAGES["provider_failed"])
    response = error_page(
        request,
        error.status,
        title=str(title),
        message=str(message),
        next_step="",
        link=Link(back, _("Go back")),
    )
    for name, value in error.headers.items():
        response[name] = value
    return response


_MESSAGES: Final = {
    "declined": (
        gettext_lazy("That was not finished"),
        gettext_lazy("You did not go on at the other service. Try again, or choose another way."),
    ),
    "provider_failed": (
        gettext_lazy("That did not work"),
        gettext_lazy("The other service did not tell us who you are. Try again, or choose another way."),
    ),
    "not_asked_again": (
        gettext_lazy("You have to sign in again"),
        gettext_lazy("The other service did not say that you signed in just now. Choose another way."),
    ),
    "not_offered": (
        gettext_lazy("This way to sign in is not available"),
        gettext_lazy("It was switched off, or was never there. Choose another way."),
    ),
    "no_account": (
        gettext_lazy("There is no account for you here"),
        gettext_lazy(
            "The people who run this service have to make one. If you have one already, sign in another way."
        ),
    ),
    "account_exists": (
        gettext_lazy("You already have an account here"),
        gettext_lazy(
            "There is an account with your email address. Sign in to it another way; "
            "then you can link the other service on your account page."
        ),
    ),
    "linked_elsewhere": (
        gettext_lazy("That account is linked to somebody else"),
        gettext_lazy("Unlink it there first, or link another one."),
    ),
    "suspended": (
        gettext_lazy("Your account is suspended"),
        gettext_lazy("Ask the people who run this service to open it again."),
    ),
    "rate_limited": (
        gettext_lazy("Too many sign-ins came from your network"),
        gettext_lazy("Wait a few minutes and try again."),
    ),
    "overloaded": (
        gettext_lazy("Many people are signing in at this moment"),
        gettext_lazy("Wait a few seconds and try again."),
    ),
}

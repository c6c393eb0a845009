"""The redirect to a social provider, and the provider's callback."""

from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from identity.core.errors import ServiceError
from identity.http import same_origin
from identity.http.responses import handles_deletion, redirect
from identity.sessions import cookies
from interaction.journeys import pending as pending_requests
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import visits
from interaction.journeys.social import linking, trial
from interaction.journeys.social import sign_in as signing_in
from interaction.journeys.social.provider import (
    LONGEST_PARAMETER,
    AuthorizationResponse,
    receive_form,
    redeem_attempt,
)
from interaction.pages import connector_trials
from interaction.pages.expired import expired_sign_in
from interaction.pages.views import agreement, shared, social_errors
from interaction.social.models import SocialAttempt

_PARAMETERS: Final = ("state", "code", "error", "iss")
_TICKED: Final = frozenset(("on", "true"))  # in a form, and in a link on a company's own sign-in page


@require_http_methods(["GET", "POST"])  # no HEAD: it starts a sign-in
@handles_deletion
def start(request: HttpRequest, connector_id: str) -> HttpResponse:
    """Redirect the browser to a provider.

    If users choose whether they stay signed in, the sign-in page sends a form, otherwise it has a link.
    """
    if not same_origin.is_same_origin(request):
        raise PermissionDenied
    sent = request.POST if request.method == "POST" else request.GET
    try:
        pending = pending_requests.find(request, sent.get("interaction", ""))
    except pending_requests.Expired:
        return expired_sign_in(request, sent.get("interaction", ""))
    response = redirect(_sign_in_url(pending))
    browser = cookies.get_browser(request) or cookies.new_browser(response)
    try:
        response["Location"] = signing_in.begin(
            connector_id=connector_id,
            browser=browser,
            pending=pending,
            keep_signed_in=sent.get("keep_signed_in") in _TICKED,
            signs_in_again=pending is None and cookies.current_session(request) is not None,
        )
    except ServiceError as error:
        return social_errors.refuse(request, error, _sign_in_url(pending))
    return response


@csrf_exempt  # a provider's page posts its response; the GET that follows checks the browser
@require_http_methods(["GET", "POST"])  # no HEAD: it redeems the code
def callback(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Receive a provider's response at the callback of a connector."""
    return _repeat_as_get(request, pk) if request.method == "POST" else _receive(request, pk)


@require_GET  # no HEAD: it redeems the code
def shared_callback(request: HttpRequest) -> HttpResponse:
    """Receive a provider's response at the callback that connectors of 0.1.0 share."""
    return _receive(request, None)


def _repeat_as_get(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Redirect the browser to the same callback with GET.

    With ``SameSite=Lax``, the form of another site comes without cookies, and the GET of a redirect has them.
    The URL gets the parameters that other providers put there. A user's name must not be in a URL, so it is
    stored. The name of an administrator who tries the connector is in the URL, encrypted.
    """
    state, user = request.POST.get("state", ""), request.POST.get("user", "")
    receive_form(state=state, callback=pk, user=user)
    values = {name: request.POST.get(name, "") for name in _PARAMETERS}
    values["name"] = trial.seal_name(state=state, callback=pk, user=user)
    query = urlencode({name: value for name, value in values.items() if 0 < len(value) <= LONGEST_PARAMETER})
    return redirect(f"{request.path}?{query}")


@handles_deletion
def _receive(request: HttpRequest, pk: UUID | None) -> HttpResponse:
    parameters = {name: request.GET.get(name, "") for name in _PARAMETERS}
    if tried := trial.parse_state(parameters["state"]):
        return redirect(connector_trials.get_url(pk, tried, parameters, request.GET.get("name", "")))
    state = parameters.pop("state")
    pending = None
    try:
        attempt = redeem_attempt(state=state, browser=cookies.get_browser(request), callback=pk)
        if attempt.interaction:
            pending = pending_requests.find(request, attempt.interaction)
    except pending_requests.Expired:
        return expired_sign_in(request)
    return _finish(request, attempt, state, AuthorizationResponse(**parameters), pending)


def _finish(
    request: HttpRequest,
    attempt: SocialAttempt,
    state: str,
    answer: AuthorizationResponse,
    pending: Pending | None,
) -> HttpResponse:
    visit = visits.of(request, pending)
    try:
        if attempt.session_id is not None:
            return redirect(linking.link(attempt, state=state, answer=answer, current=visit.current))
        result = signing_in.sign_in(attempt, state=state, answer=answer, visit=visit)
    except pending_requests.Expired:
        return expired_sign_in(request)
    except ServiceError as error:
        back = reverse("pages:account") if attempt.session_id else _sign_in_url(pending)
        return social_errors.refuse(request, error, back)
    if isinstance(result, signing_in.AwaitedAgreement):
        response = redirect(agreement.get_url(result.attempt_id, pending))
        cookies.add_proof(request, response, result.secret)
        return response
    return shared.redirect_signed_in(request, result)


def _sign_in_url(pending: Pending | None) -> str:
    return page_url("pages:sign-in", pending)

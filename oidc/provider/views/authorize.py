"""GET and POST /oidc/authorize, and GET /oidc/authorize/{id}, where a pending request continues."""

from typing import Final
from urllib.parse import quote, urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from database import ids
from identity.http.error_page import error_page
from identity.http.responses import gone, redirect, survives_deletion
from identity.limits import services as limits
from identity.organizations import memberships
from identity.sessions import cookies
from identity.sessions.models import Session
from oidc.grants import codes, consents, requests
from oidc.grants.models import AuthorizationRequest
from oidc.provider import parameters
from oidc.provider.authorization import request as authorization
from oidc.provider.authorization import steps
from oidc.provider.authorization.refusals import Unanswerable
from oidc.provider.authorization.request import Authorization, ErrorRedirect
from oidc.provider.authorization.steps import Step

_LONGEST_QUERY: Final = 16_384
_LONGEST_LINE: Final = 8_000  # what every server takes as a request line (RFC 9112 section 3)
_QUERY_CHARACTERS: Final = "!$%&'()*+,-./:;=?@_~"  # RFC 3986 section 3.4; a percent sign stays one

_PAGES: Final = {
    Step.SIGN_IN: "pages:sign-in",
    Step.SELECT_ACCOUNT: "pages:select-account",
    Step.CONSENT: "pages:consent",
    Step.CONFIRM: "pages:continue",
}


@csrf_exempt  # an authorization request comes from another site by nature, and changes nothing
@require_http_methods(["GET", "POST"])  # no HEAD, which must not issue a code
@survives_deletion
def authorize(request: HttpRequest) -> HttpResponse:
    """Answer an authorization request with a code, a page for the user, or an error."""
    try:
        query = _query(request)
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site") == "cross-site":
            # Browsers send SameSite=Lax cookies with a cross-site GET, but not with a POST.
            onward = f"{reverse('oidc:authorize')}?{quote(query, safe=_QUERY_CHARACTERS)}"
            if len(onward) < _LONGEST_LINE:
                return redirect(onward)
        query, too_long = _shortened(query)
        asked = authorization.validate(parameters.decode(query), too_long=too_long)
    except (parameters.InvalidParameters, Unanswerable) as error:
        return _unanswerable(request, str(error))
    except ErrorRedirect as refused:
        return redirect(refused.location)
    session = cookies.current_session(request)
    step = steps.next_step(asked, session, None)
    if step is Step.ISSUE or "none" in asked.prompt:
        return _answer(request, asked, session, step, None)
    return _park(request, asked, query, step)


@require_GET
@survives_deletion
def resume(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Continue a pending request of this browser."""
    parked = requests.find(cookies.get_browser(request), request_id)
    if parked is None:
        return gone(request)
    try:
        asked = authorization.validate(parameters.decode(parked.query), application=parked.application)
    except Unanswerable as error:
        return _unanswerable(request, str(error))
    except ErrorRedirect as refused:
        requests.finish(parked)
        return redirect(refused.location)
    session = cookies.current_session(request)
    step = steps.next_step(asked, session, parked)
    if step in _PAGES:
        return redirect(_page(step, parked.pk))
    return _answer(request, asked, session, step, parked)


def _query(request: HttpRequest) -> str:
    if request.method == "POST":
        return parameters.form_text(request)
    return str(request.META["QUERY_STRING"])


def _shortened(query: str) -> tuple[str, str]:
    """Return a query of acceptable length, and the name of the parameter that was removed for it."""
    return parameters.without_longest(query, _LONGEST_QUERY) if len(query) > _LONGEST_QUERY else (query, "")


def _unanswerable(request: HttpRequest, reason: str) -> HttpResponse:
    return error_page(
        request,
        400,
        title=_("This link does not work"),
        message=_("The application sent you here with a request we cannot answer.") + f" {reason}",
        next_step=_("Go back to the application and try again. If it happens again, tell those who run it."),
    )


def _answer(
    request: HttpRequest,
    asked: Authorization,
    session: Session | None,
    step: Step,
    parked: AuthorizationRequest | None,
) -> HttpResponse:
    """Send the client a code or an error. A pending request is answered once."""
    if step is Step.ISSUE and session and not _is_stranger(session, asked.organization_id):
        code = _code(asked, session, parked)
        return redirect(asked.answer(code=code)) if code else gone(request)
    if parked and not requests.finish(parked):
        return gone(request)
    return redirect(_refusal(asked, step))


def _is_stranger(session: Session, organization_id: str) -> bool:
    return bool(organization_id) and not memberships.find_membership(session.user_id, organization_id)


def _code(asked: Authorization, session: Session, parked: AuthorizationRequest | None) -> str | None:
    return codes.issue(
        application=asked.application,
        session=session,
        redirect_uri=asked.redirect_uri,
        scope=asked.scope,
        claims=asked.claims.as_json,
        resource=asked.resource,
        organization_id=asked.organization_id,
        nonce=asked.nonce,
        code_challenge=asked.code_challenge,
        consent_id=_consent_id(asked, session),
        pending_request=parked,
    )


def _consent_id(asked: Authorization, session: Session) -> UUID | None:
    """Return the consent of a third-party application's code.

    If the user has just revoked it there is none, and the code will be refused.
    """
    if not asked.application.is_third_party:
        return None
    return consents.find_id(session.user_id, asked.application.pk)


def _refusal(asked: Authorization, step: Step) -> str:
    """Return the error for a request that may not show a page (OpenID Connect Core 3.1.2.6)."""
    if step is Step.ISSUE:
        return asked.answer(
            error="invalid_request",
            error_description="The organization is unknown, or the user does not belong to it.",
        )
    if step is Step.CONFIRM or (step is Step.CONSENT and steps.is_unproven(asked)):
        return asked.answer(error="interaction_required", error_description="The user has to see a page.")
    if step is Step.CONSENT:
        return asked.answer(error="consent_required", error_description="The user has not agreed yet.")
    return asked.answer(error="login_required", error_description="The user has to sign in.")


def _park(request: HttpRequest, asked: Authorization, query: str, step: Step) -> HttpResponse:
    request_id = ids.new()
    response = redirect(_page(step, request_id))
    known = cookies.get_browser(request)
    try:
        requests.store(
            request_id=request_id,
            browser=known or cookies.new_browser(response),
            is_new=not known,
            application=asked.application,
            query=authorization.to_stored(query),
        )
    except limits.TooMany as refused:
        return _too_many(request, refused)
    return response


def _too_many(request: HttpRequest, refused: limits.TooMany) -> HttpResponse:
    response = error_page(
        request,
        refused.status,
        title=_("Too many sign-ins at once"),
        message=_("Too many requests came from your network. Wait a few minutes and try again."),
        next_step=_("Go back to the application and sign in again."),
    )
    for name, value in refused.headers.items():
        response[name] = value
    return response


def _page(step: Step, request_id: UUID) -> str:
    return f"{reverse(_PAGES[step])}?{urlencode({'interaction': request_id})}"

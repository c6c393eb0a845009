"""GET and POST /oidc/authorize, and GET /oidc/authorize/{id}, where a pending request continues."""

from typing import Final
from urllib.parse import quote, urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods

from database import ids
from identity.http import languages, paths, same_origin
from identity.http.responses import LONGEST_URL, expired_sign_in_page, handles_deletion, redirect
from identity.sessions import cookies
from identity.sessions.models import Session
from oidc.grants import codes, consents, requests
from oidc.grants.models import AuthorizationRequest
from oidc.keys import jws
from oidc.provider import acr, client_responses, parameters
from oidc.provider.authorization import refused_access, steps, stored_scope
from oidc.provider.authorization.request import Authorization, to_stored, validate, validate_stored
from oidc.provider.authorization.steps import Step
from oidc.provider.error_responses import page_errors
from oidc.provider.parameters import Parameters

_CLAIM: Final = "claim"  # in the query of a request that belongs to no browser yet
_QUERY_CHARACTERS: Final = "!$%&'()*+,-./:;=?@_~"  # RFC 3986 section 3.4; a percent sign stays one

_PAGES: Final = {
    Step.SIGN_IN: "pages:sign-in",
    Step.SELECT_ACCOUNT: "pages:select-account",
    Step.CONSENT: "pages:consent",
    Step.CONFIRM: "pages:continue",
    Step.NO_ACCESS: "pages:no-access",
    Step.STEP_UP: "pages:second-factor",
}
_errors: Final = page_errors(
    title=_("This link does not work"),
    message=_("The application sent a request that we can't answer."),
    next_step=_("Go back to the application and try again. If it happens again, contact its support."),
)


@csrf_exempt  # an authorization request comes from another site by nature, and changes nothing
@require_http_methods(["GET", "POST"])  # no HEAD, which must not issue a code
@handles_deletion
@_errors
def authorize(request: HttpRequest) -> HttpResponse:
    """Respond to an authorization request with a code, a page for the user, or an error."""
    query = _get_query(request)
    if same_origin.may_hide_cookies(request):
        url = f"{paths.get('oidc:authorize')}?{quote(query, safe=_QUERY_CHARACTERS)}"
        if len(url) < LONGEST_URL:
            return redirect(url)
    query, too_long = _shorten(query)
    sent = parameters.decode(query)
    authorization = validate(sent, too_long=too_long)
    session = cookies.current_session(request)
    step = steps.next_step(authorization, session, None)
    if session and step is Step.NO_ACCESS:
        refused_access.record(authorization.application, session)
    if step not in _PAGES or "none" in authorization.prompt:
        return _respond(request, authorization, session, step, None)
    return _store_and_redirect(request, authorization, sent, step)


@require_GET
@handles_deletion
@_errors
def resume(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Continue a pending request of this browser."""
    pending, session = requests.find_with_session(
        cookies.get_browser(request),
        request_id,
        proofs=cookies.get_proofs(request),
        session_token=cookies.get_session_token(request),
    )
    if pending is None:
        return _claim(request, request_id) if _CLAIM in request.GET else expired_sign_in_page(request)
    authorization = validate_stored(pending)
    if language := languages.find_supported(pending.language or authorization.ui_locales):
        translation.activate(language)
    step = steps.next_step(authorization, session, pending)
    if session and step is Step.NO_ACCESS:
        refused_access.record(authorization.application, session)
    if step in _PAGES:
        return redirect(_page_url(step, pending.pk))
    return _respond(request, authorization, session, step, pending)


def _get_query(request: HttpRequest) -> str:
    if request.method == "POST":
        return parameters.form_text(request)
    return str(request.META["QUERY_STRING"])


def _shorten(query: str) -> tuple[str, str]:
    """Return a query of acceptable length, and the name of the parameter that was removed, if any."""
    if len(query) <= parameters.LONGEST:
        return query, ""
    shorter, longest = parameters.without_longest(query, parameters.LONGEST)
    is_token = longest == "id_token_hint" and len(query) - len(shorter) <= jws.LONGEST
    return (query, "") if is_token else (shorter, longest)


def _respond(
    request: HttpRequest,
    authorization: Authorization,
    session: Session | None,
    step: Step,
    pending: AuthorizationRequest | None,
) -> HttpResponse:
    """Send the client a code or an error. A pending request gets one response."""
    if step is Step.ISSUE and session:
        code = _issue_code(authorization, session, pending)
        if code is None:
            return expired_sign_in_page(request)
        return client_responses.send(request, authorization.build_code_response(code))
    if pending and not requests.finish(pending):
        return expired_sign_in_page(request)
    refusal = steps.get_refusal(authorization, session, step)
    return client_responses.send(request, authorization.build_error_response(refusal))


def _issue_code(
    authorization: Authorization, session: Session, pending: AuthorizationRequest | None
) -> str | None:
    return codes.issue(
        application=authorization.application,
        session=session,
        redirect_uri=authorization.redirect_uri,
        scope=stored_scope.get_stored(authorization),
        claims=authorization.claims.as_json,
        resource=authorization.resource,
        organization_id=authorization.organization_id,
        nonce=authorization.nonce,
        code_challenge=authorization.code_challenge,
        consent_id=_find_consent_id(authorization, session),
        acr=acr.get_value(session, authorization.acr_values),
        pending_request=pending,
    )


def _find_consent_id(authorization: Authorization, session: Session) -> UUID | None:
    """Return the id of the consent on which a third-party application's code depends.

    Return None if the user has just revoked the consent: the token endpoint will refuse the code.
    """
    if not authorization.application.is_third_party:
        return None
    return consents.find_id(session.user_id, authorization.application.pk)


def _store_and_redirect(
    request: HttpRequest, authorization: Authorization, sent: Parameters, step: Step
) -> HttpResponse:
    """Store the request until the user has seen the pages, and redirect to the first page.

    A POST of another site that is too long for a redirect to itself belongs to no browser yet. The redirect
    is a GET, which has the cookies. A new cookie here would replace that of sign-ins in other tabs.
    """
    request_id, browser = ids.new(), cookies.get_browser(request)
    if not browser and same_origin.may_hide_cookies(request):
        response, owner = redirect(f"{_resume_url(request_id)}?{urlencode({_CLAIM: 1})}"), requests.NO_BROWSER
    else:
        response = redirect(_page_url(step, request_id))
        owner = browser or cookies.new_browser(response)
    requests.store(
        request_id=request_id,
        browser=owner,
        is_new=not browser,
        secret_hash=cookies.get_newest_proof(request),
        application=authorization.application,
        query=to_stored(sent),
    )
    return response


def _claim(request: HttpRequest, request_id: UUID) -> HttpResponse:
    """Give a request that came without cookies to this browser, and continue it."""
    response = redirect(_resume_url(request_id))
    browser = cookies.get_browser(request) or cookies.new_browser(response)
    if not requests.claim(request_id, browser=browser, secret_hash=cookies.get_newest_proof(request)):
        return expired_sign_in_page(request)
    return response


def _resume_url(request_id: UUID) -> str:
    return reverse("oidc:resume", args=[request_id])


def _page_url(step: Step, request_id: UUID) -> str:
    return f"{paths.get(_PAGES[step])}?{urlencode({'interaction': request_id})}"

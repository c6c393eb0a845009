"""GET and POST /oidc/end-session (OpenID Connect RP-Initiated Logout 1.0)."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from identity.http import languages, same_origin
from identity.http.error_page import Link
from identity.http.origin_check import OriginCheckMiddleware
from identity.http.responses import LONGEST_URL, allow_form_targets, redirect
from identity.sessions import cookies
from identity.sessions import services as sessions
from identity.sessions.models import Session
from oidc.provider import logout_request, parameters
from oidc.provider.error_responses import page_errors
from oidc.provider.logout_request import PARAMETERS, LogoutRequest
from oidc.provider.parameters import Parameters


def _get_link() -> Link:
    """Return the link to a sign-out that the user asks for."""
    return Link(reverse("oidc:end-session"), gettext("Sign out"))


@csrf_exempt  # a relying party may POST here; only the confirmation is checked, below
@require_http_methods(["GET", "POST"])  # no HEAD, which must not end a session
@page_errors(
    title=_("You were not signed out"),
    message=_("The application sent a sign-out request we cannot answer."),
    next_step=_("You can still sign out."),
    get_link=_get_link,
)
def end_session(request: HttpRequest) -> HttpResponse:
    """Sign the browser out: at once if the hint names its session, otherwise after a confirmation.

    A request without a session, as from an application's server, ends the session that its hint names.
    """
    form = _read_parameters(request)
    if language := languages.find_supported(form["ui_locales"]):
        translation.activate(language)
    # The form of our own page is accepted at every address of the server: no URL carries what it confirms.
    may_hide_session = same_origin.may_hide_cookies(request) and not cookies.has_session(request)
    if may_hide_session and not _is_confirmed(request, form):
        return _redirect_to_get(form)
    return _end_session(request, logout_request.validate(form))


def _redirect_to_get(form: Parameters) -> HttpResponse:
    """Redirect to the same request as a GET, with which browsers send the cookie of the session.

    If that is too long, the hint is replaced by the client that it names. Then the user is asked.
    """
    sent = dict(form.select(frozenset(PARAMETERS)))
    if len(_build_url(sent)) >= LONGEST_URL and (hint := logout_request.validate(form).hint):
        del sent["id_token_hint"]
        sent["client_id"] = hint.client_id
    url = _build_url(sent)
    if len(url) >= LONGEST_URL:
        raise parameters.InvalidParameters(f"A URL has at most {LONGEST_URL} characters; this one has more.")
    return redirect(url)


def _build_url(sent: dict[str, str]) -> str:
    return f"{reverse('oidc:end-session')}?{urlencode(sent)}"


def _end_session(request: HttpRequest, valid: LogoutRequest) -> HttpResponse:
    session = cookies.current_session(request)
    if session is None:
        if not valid.parameters["confirm"]:  # the button ends the session of its own browser only
            logout_request.end_session_of_hint(valid)
        return _signed_out(request, valid, valid.redirect_url)
    if not valid.is_silent(session) and not _is_confirmed(request, valid.parameters):
        return _confirmation_page(request, valid, session)
    sessions.end(session)
    return _signed_out(request, valid, valid.redirect_url if valid.may_redirect_after(session) else "")


def _signed_out(request: HttpRequest, valid: LogoutRequest, redirect_url: str) -> HttpResponse:
    if redirect_url:
        response = redirect(redirect_url)
    else:
        context = {"application": valid.application, "home_url": ""}
        response = render(request, "interaction/signed_out.html", context)
        response["Cache-Control"] = "no-store"
    # A form of another site comes without cookies. It must not delete those that the browser keeps.
    if cookies.has_session(request):
        cookies.delete_sign_in(response)
    return response


def _confirmation_page(request: HttpRequest, valid: LogoutRequest, session: Session) -> HttpResponse:
    """Ask before signing out, because a link on any page can lead here."""
    sent = valid.parameters
    response = render(
        request,
        "interaction/sign_out.html",
        {
            "user": {"name": session.user.display_name, "identifier": session.user.identifier},
            "application": valid.application,
            "fields": [(name, sent[name]) for name in PARAMETERS if name in sent.values],
        },
    )
    response["Cache-Control"] = "no-store"
    allow_form_targets(response, valid.form_targets)
    return response


def _read_parameters(request: HttpRequest) -> Parameters:
    if request.method == "POST":
        return parameters.form(request)
    query = parameters.decode(str(request.META["QUERY_STRING"]))
    if repeated := query.repeated.intersection(PARAMETERS):
        raise parameters.InvalidParameters(f"The parameter {min(repeated)} was sent more than once.")
    return query


def _is_confirmed(request: HttpRequest, form: Parameters) -> bool:
    if request.method != "POST" or form["confirm"] != "yes":
        return False
    return OriginCheckMiddleware(_never_exempt).process_view(request, _never_exempt, (), {}) is None


def _never_exempt(_: HttpRequest) -> HttpResponse:
    """Serve as a view that is not exempt from the CSRF check."""
    return HttpResponse()

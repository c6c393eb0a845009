"""GET and POST /oidc/end-session (OpenID Connect RP-Initiated Logout 1.0)."""

from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from identity.http import languages
from identity.http.error_page import error_page
from identity.http.origin_check import OriginCheckMiddleware
from identity.http.responses import redirect
from identity.sessions import cookies
from identity.sessions import services as sessions
from identity.sessions.models import Session
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.provider import id_token_hint, parameters
from oidc.provider.id_token_hint import Hint
from oidc.provider.parameters import Parameters

_TARGET: Final = "post_logout_redirect_uri"
_NAMES: Final = ("id_token_hint", "logout_hint", "client_id", _TARGET, "state", "ui_locales")


@csrf_exempt  # a relying party may POST here; only the confirmation is checked, below
@require_http_methods(["GET", "POST"])  # no HEAD, which must not end a session
def end_session(request: HttpRequest) -> HttpResponse:
    """Sign the browser out: at once if the hint names its session, else after a confirmation."""
    try:
        sent = _sent(request)
    except parameters.InvalidParameters as refused:
        return _refused(request, refused.description)
    if language := languages.best_of(sent["ui_locales"]):
        translation.activate(language)
    if request.method == "POST" and request.headers.get("Sec-Fetch-Site") == "cross-site":
        # The browser keeps SameSite=Lax cookies from a cross-site POST, but not from a GET.
        return redirect(f"{reverse('oidc:end-session')}?{urlencode(sent.only(frozenset(_NAMES)))}")
    try:
        hint = id_token_hint.read(sent["id_token_hint"]) if sent["id_token_hint"] else None
    except id_token_hint.Forged:
        return _refused(request, "The id_token_hint is not an ID token of ours.")
    if hint is not None and sent["client_id"] not in {"", hint.client_id}:
        # RP-Initiated Logout section 2: the OP MUST verify that both name the same client.
        return _refused(request, "The id_token_hint was issued to another client than the client_id.")
    application = _application(sent, hint)
    target = sent[_TARGET]
    is_of_nobody = not sent["client_id"] and hint is None
    if target and not (_is_listed(target) if is_of_nobody else _may_return(target, application)):
        return _refused(request, "The post_logout_redirect_uri is not registered.")
    return _end(request, sent, hint, application)


def _end(
    request: HttpRequest, sent: Parameters, hint: Hint | None, application: Application | None
) -> HttpResponse:
    session = cookies.current_session(request)
    if session is None:
        # No user is signed in, so there is nothing to confirm.
        return _done(request, sent, application)
    hinted = hint is not None and (hint.subject, hint.session_id) == (str(session.user_id), str(session.pk))
    # A third party must not end the session that all applications share with a single request.
    is_silent = hinted and application is not None and not application.is_third_party
    if not is_silent and not _is_confirmed(request, sent):
        return _ask(request, sent, session, application)
    sessions.end(session)
    # Without a matching hint or a client there is no application to redirect to.
    known = hinted or sent["client_id"]
    return _done(request, sent if known else Parameters({}, frozenset()), application)


def _done(request: HttpRequest, sent: Parameters, application: Application | None) -> HttpResponse:
    target = sent[_TARGET]
    if target:
        state = urlencode({"state": sent["state"]}) if "state" in sent.values else ""
        joint = "&" if "?" in target else "?"
        response = redirect(f"{target}{joint}{state}" if state else target)
    else:
        response = render(
            request, "interaction/signed_out.html", {"application": application, "home_url": ""}
        )
        response["Cache-Control"] = "no-store"
    cookies.delete_sign_in(response)
    return response


def _ask(
    request: HttpRequest, sent: Parameters, session: Session, application: Application | None
) -> HttpResponse:
    """Ask before signing out: a link on any page could have led here."""
    fields = [(name, sent[name]) for name in _NAMES if name in sent.values]
    response = render(
        request,
        "interaction/sign_out.html",
        {
            "user": {"name": session.user.display_name, "identifier": session.user.identifier},
            "application": application,
            "fields": fields,
        },
    )
    response["Cache-Control"] = "no-store"
    target = sent[_TARGET]
    response.form_targets = redirect_uris.form_targets(target) if target else ()  # type: ignore[attr-defined]
    return response


def _sent(request: HttpRequest) -> Parameters:
    if request.method == "POST":
        return parameters.form(request)
    sent = parameters.decode(str(request.META["QUERY_STRING"]))
    if repeated := sent.repeated.intersection(_NAMES):
        raise parameters.InvalidParameters(f"The parameter {min(repeated)} was sent more than once.")
    return sent


def _is_confirmed(request: HttpRequest, sent: Parameters) -> bool:
    if request.method != "POST" or sent["confirm"] != "yes":
        return False
    return OriginCheckMiddleware(_never_exempt).process_view(request, _never_exempt, (), {}) is None


def _never_exempt(_: HttpRequest) -> HttpResponse:
    """Serve as a view that is not exempt from the CSRF check."""
    return HttpResponse()


def _application(sent: Parameters, hint: Hint | None) -> Application | None:
    if sent["client_id"]:
        return Application.objects.filter(client_id=sent["client_id"]).first()
    return hint.application if hint else None


def _is_listed(target: str) -> bool:
    """Tell whether any application has registered this target, for requests that name no client."""
    origin = redirect_uris.get_origin(target)
    homes = Application.objects.with_origin(origin) if origin else ()
    return any(target in home.post_logout_redirect_uris for home in homes)


def _may_return(target: str, application: Application | None) -> bool:
    """Tell whether a target is registered or, if none is, has the origin of a redirect URI."""
    if application is None:
        return False
    if application.post_logout_redirect_uris:
        return target in application.post_logout_redirect_uris
    # The state, which is appended at the end, would become part of a fragment.
    origin = None if "#" in target else redirect_uris.get_origin(target)
    return origin is not None and origin in {redirect_uris.get_origin(u) for u in application.redirect_uris}


def _refused(request: HttpRequest, reason: str) -> HttpResponse:
    return error_page(
        request,
        400,
        title=_("You were not signed out"),
        message=_("The application sent a sign-out request we cannot answer.") + f" {reason}",
        next_step=_("You can sign out on your account page."),
    )

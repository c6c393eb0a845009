"""Functions shared by the views of the journeys' pages."""

from collections.abc import Callable
from functools import wraps
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation
from django.views.decorators.http import require_http_methods

from identity.core.errors import Invalid, ServiceError
from identity.factors.kinds import FactorType
from identity.http.responses import allow_form_targets, allow_widget, redirect
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors import captcha
from interaction.connectors.providers import registry
from interaction.journeys import languages
from interaction.journeys import pending as pending_requests
from interaction.journeys.pending import Pending
from interaction.journeys.second_factor import browser_cookies, visits
from interaction.journeys.second_factor.sign_ins import Outcome, SignInResult
from interaction.pages import error_messages, language
from interaction.pages.expired import expired_sign_in
from oidc.grants import requests

# Providers on the same machine, to which forms may redirect in development.
PROVIDER_TARGETS: Final = ("http://localhost:*", "http://127.0.0.1:*") if settings.DEVELOPMENT else ()
Step = Callable[..., HttpResponse]


def step(view: Step) -> Callable[..., HttpResponse]:
    """Turn a step of a journey into a view, with the pending request and in the journey's language.

    The step gets the request, the pending request, and the parts of the URL.
    """

    @_page_of_journey
    @wraps(view)
    def wrapped(request: HttpRequest, **parts: object) -> HttpResponse:
        pending = pending_requests.find(request, _get_parameter(request, "interaction"))
        _activate_language(request, pending)
        return view(request, pending, **parts)

    return wrapped


def second_step(view: Step) -> Callable[..., HttpResponse]:
    """Turn the second step of a sign-in into a view, in the journey's language.

    The step gets the request and what ``visits.find`` returns, with the experience of the page.
    """

    @_page_of_journey
    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        proves_totp = request.method == "POST" and _get_parameter(request, "with") == FactorType.TOTP
        factor = FactorType.TOTP if proves_totp else None
        visit = visits.find(request, _get_parameter(request, "interaction"), factor)
        if visit.experience is not None:
            request.experience = visit.experience  # type: ignore[attr-defined]  # read by ``context``
        _activate_language(request, visit.pending)
        return view(request, visit)

    return wrapped


def _page_of_journey(view: Step) -> Callable[..., HttpResponse]:
    """Restrict a view to the methods of pages, and let it show the page for an expired sign-in."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def wrapped(request: HttpRequest, **parts: object) -> HttpResponse:
        try:
            return view(request, **parts)
        except pending_requests.Expired:
            return expired_sign_in(request, _get_parameter(request, "interaction"))

    return wrapped


def _get_parameter(request: HttpRequest, name: str) -> str:
    return (request.POST if request.method == "POST" else request.GET).get(name, "")


def _activate_language(request: HttpRequest, pending: Pending | None) -> None:
    if pending is None:
        return
    if chosen := languages.get_chosen(request):
        requests.record_language(pending.row, chosen)
    translation.activate(languages.get_journey_language(request, pending))


def captcha_token(request: HttpRequest) -> str:
    """Return the token that the CAPTCHA widget added to the form."""
    names = (f"{provider.widget.css_class}-response" for provider in registry.captchas())
    return next((request.POST[name] for name in names if request.POST.get(name)), "")


def render_page(
    request: HttpRequest, template: str, pending: Pending | None, status: int = 200, **values: object
) -> HttpResponse:
    """Render a page of a journey, whose form may redirect to the application of the pending request.

    With ``asks_captcha``, the page shows the tenant's CAPTCHA, if there is one.
    """
    request.pending = pending  # type: ignore[attr-defined]  # read by ``context``
    current_captcha = captcha.current() if values.get("asks_captcha") else None
    form = values.get("form")
    application = pending and {
        "name": pending.application.name,
        "site": pending.site,
        "is_third_party": pending.application.is_third_party,
    }
    interaction = str(pending.row.pk) if pending else ""
    response = render(
        request,
        f"interaction/{template}.html",
        {
            "application": application,
            "interaction": interaction,
            "languages": _languages(request, interaction),
            "captcha": current_captcha,
            "language_name": dict(settings.LANGUAGES)[translation.get_language() or settings.LANGUAGE_CODE],
            **(_describe_errors(form) if isinstance(form, Form) else {}),
            **values,
        },
        status=status,
    )
    response["Cache-Control"] = "no-store"
    if chosen := languages.get_chosen(request):
        language.remember(response, chosen)
    allow_form_targets(response, pending.form_targets if pending else ())
    if current_captcha:
        allow_widget(response, current_captcha.provider.widget.sources)
    return response


def _describe_errors(form: Form) -> dict[str, object]:
    """Return the messages above a form or, without any, the name of its first invalid field.

    The page focuses either of them. A message about a field is shown beside the field only.
    """
    hidden = [message for field in form.hidden_fields() for message in field.errors]
    invalid = [field.html_name for field in form.visible_fields() if field.errors]
    problems = [*form.non_field_errors(), *hidden]
    return {"problems": problems, "invalid_field": "" if problems else next(iter(invalid), "")}


def allow_providers(response: HttpResponse, pending: Pending | None) -> None:
    """Let the page's forms redirect to providers on the same machine, in development."""
    allow_form_targets(response, (*(pending.form_targets if pending else ()), *PROVIDER_TARGETS))


def _languages(request: HttpRequest, interaction: str) -> list[dict[str, str]]:
    """Return links to the page in all languages."""
    query = {"interaction": interaction} if interaction else {}
    query |= {"switch": "1"} if "switch" in request.GET else {}
    query |= {"with": "password"} if request.GET.get("with") == "password" else {}
    return [
        {
            "tag": language.get_tag(code),
            "name": name,
            "href": f"{request.path}?{urlencode(query | {languages.PARAMETER: language.get_tag(code)})}",
        }
        for code, name in settings.LANGUAGES
    ]


def add_error(
    form: Form, error: ServiceError, field: str | None = None, *, is_recovery: bool = False
) -> None:
    """Add the messages of an error to its field or, without a field, to the whole form.

    ``is_recovery`` says that the user has entered a recovery code.
    """
    name = error.field if isinstance(error, Invalid) else field
    is_shown = name in form.fields and not form[name].is_hidden
    for message in error_messages.get_messages(error, is_recovery=is_recovery):
        form.add_error(name if is_shown else None, message)


def redirect_signed_in(request: HttpRequest, result: Outcome) -> HttpResponse:
    """Redirect to the page after a sign-in, with the cookies of the session, or to its missing step."""
    response = redirect(result.redirect_to)
    browser_cookies.set_outcome(request, response, result)
    if (
        isinstance(result, SignInResult)
        and settings.LANGUAGE_COOKIE_NAME not in request.COOKIES
        and (chosen := languages.find_own(result.user))
    ):
        language.remember(response, chosen)
    return response


def describe_user(user: User) -> dict[str, str]:
    return {
        "name": user.name,
        "username": user.username,
        "email": user.email,
        "phone": user.phone,
        "identifier": user.identifier,
        "initial": user.display_name[:1].upper(),
    }


def get_choice(request: HttpRequest, session: Session | None) -> str:
    """Return the value of the pressed button; an empty string if the page was rendered for another session.

    Another user may have signed in in another tab since. The page is then shown to that user.
    """
    is_same_session = session is not None and request.POST.get("session") == str(session.pk)
    return request.POST.get("choice", "") if is_same_session else ""

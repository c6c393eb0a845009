"""Who is there?"""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from identity.core.errors import ServiceError
from identity.sessions import cookies
from interaction.journeys import pending as waiting
from interaction.journeys import sign_in as signing_in
from interaction.journeys.pending import Pending
from interaction.pages.forms import SignInForm
from interaction.pages.views import shared
from interaction.social import offered
from oidc.provider.views.authorize import gone, redirect


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask who is there."""
    try:
        pending = shared.found(request)
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
    "locked": "That does not match any account. Wait a while before you try again.",
    "rate_limited": "Too many people tried to sign in from your network. Wait a few minutes and try again.",
    "suspended": "Your account is suspended. Ask the people who run this service to open it again.",
    "overloaded": "Many people are signing in at this moment. Wait a few seconds and try again.",
}


def _sign_in_page(
    request: HttpRequest, pending: Pending | None, form: SignInForm, status: int = 200
) -> HttpResponse:
    return shared.page(
        request,
        "sign_in",
        pending,
        status,
        form=form,
        identifier_label="Username, email or phone",
        identifier_autocomplete="username",
        offers=offered.all_of_them(),
    )

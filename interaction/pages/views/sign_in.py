"""The pages for signing in with a password and with a code."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from identity.core.errors import ServiceError
from identity.http.responses import add_headers, redirect
from identity.sessions import cookies
from identity.users.hashing_views import hashes_password
from identity.users.identifiers import Kind
from interaction.experience.models import SignInExperience
from interaction.journeys import codes, known_identifier
from interaction.journeys import pending as pending_requests
from interaction.journeys import sign_in as signing_in
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import visits
from interaction.pages import context, error_messages, labels, passkey_part, provider_buttons
from interaction.pages.forms import SignInForm
from interaction.pages.views import code_step, shared
from interaction.pages.views.entered_code import EnteredCode
from interaction.social import offers
from interaction.verification.models import Purpose
from oidc.provider import client_responses

# The query of the sign-in page with passwords, if codes come first.
_WITH_PASSWORD: Final = ("with", "password")


@hashes_password()
@shared.step
def sign_in(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for identifier and password."""
    if request.method != "POST":
        form = SignInForm(initial={"identifier": _get_hint(request, pending)})
        return _page(request, pending, form)
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _page(request, pending, form, 400)
    try:
        visit = visits.of(request, pending)
        result = signing_in.sign_in_with_password(**form.cleaned_data, visit=visit)
    except ServiceError as error:
        return add_headers(_page(request, pending, form, error.status, refusal=error), error.headers)
    return shared.redirect_signed_in(request, result)


def _get_hint(request: HttpRequest, pending: Pending | None) -> str:
    """Return the application's ``login_hint``, unless it names the user who was just declined."""
    hint = pending.authorization.login_hint[:254] if pending else ""
    if hint and "switch" in request.GET:
        session = cookies.current_session(request)
        if session and known_identifier.is_identifier_of(session.user, hint):
            return ""
    return hint


def _page(
    request: HttpRequest,
    pending: Pending | None,
    form: SignInForm,
    status: int = 200,
    *,
    refusal: ServiceError | None = None,
) -> HttpResponse:
    experience = context.get_experience(request)
    offered = codes.get_offered_kinds(experience)
    kinds = [kind for kind in experience.kinds if experience.can_use_password(kind)]
    if refusal is not None:
        _add_error(form, refusal, kinds, can_use_code=bool(offered[Purpose.SIGN_IN]))
    urls = {}
    if offered[Purpose.SIGN_IN]:
        urls["code_url"] = page_url("pages:sign-in-code", pending)
    if kinds and offered[Purpose.FORGOT_PASSWORD]:
        urls["forgot_url"] = page_url("pages:forgot-password", pending)
    if passkey_part.has_recovery(experience):
        urls["recovery_url"] = page_url("pages:recovery", pending)
    if experience.sign_up["identifiers"]:
        urls["register_url"] = page_url("pages:register", pending)
    must_reauthenticate = pending is not None and pending.must_reauthenticate
    social_offers = offers.get_offers(must_reauthenticate=must_reauthenticate)
    if pending and must_reauthenticate and not (kinds or social_offers or "code_url" in urls):
        return client_responses.send(request, pending_requests.refuse_reauthentication(pending))
    if kinds and "code_url" in urls and not form.is_bound and _is_code_first(request, pending, experience):
        return redirect(urls["code_url"])
    if not (kinds or social_offers or form.is_bound) and "code_url" in urls:
        return redirect(urls["code_url"])
    buttons = provider_buttons.describe(social_offers)
    passkey = passkey_part.for_sign_in(experience)
    response = shared.render_page(
        request,
        "sign_in",
        pending,
        status,
        brand=context.get_brand(request, experience, pending),
        form=form,
        takes_password=bool(kinds),
        identifier_label=labels.identifier_label(kinds),
        identifier_autocomplete="username webauthn" if passkey and passkey["autofill"] else "username",
        passkey=passkey,
        **urls,
        offers=buttons,
        has_icons_only=provider_buttons.has_icons_only(buttons),
        asks_to_stay=experience.tenant.keep_signed_in,
        known_user=_describe_known_user(request, pending, experience),
        other_url=page_url("pages:sign-in", pending, switch="1"),
    )
    if social_offers and experience.tenant.keep_signed_in:
        shared.allow_providers(response, pending)
    return response


def _describe_known_user(
    request: HttpRequest, pending: Pending | None, experience: SignInExperience
) -> dict[str, str] | None:
    """Return the signed-in user if only the password has to be entered again; None for another user."""
    if pending is None or not pending.must_reauthenticate or "switch" in request.GET:
        return None
    session = cookies.current_session(request)
    identifier = known_identifier.find_identifier(session, pending, experience) if session else ""
    if session is None or not identifier:
        return None
    if request.method == "POST" and request.POST.get("identifier") != identifier:
        return None
    return shared.describe_user(session.user) | {"identifier": identifier}


def _add_error(form: SignInForm, error: ServiceError, kinds: list[Kind], *, can_use_code: bool) -> None:
    if error.reason == "invalid_credentials":
        form.add_error(None, labels.wrong_password(kinds))
        return
    for message in error_messages.get_messages(error, can_use_code=can_use_code):
        form.add_error(None, message)


@shared.step
def code(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for an email or phone, then for the code that was sent to it."""
    experience = context.get_experience(request)
    kinds = codes.get_offered_kinds(experience)[Purpose.SIGN_IN]
    if not kinds and _has_passwords(experience):
        return redirect(page_url("pages:sign-in", pending))

    def redeem(entered: EnteredCode) -> HttpResponse:
        result = signing_in.sign_in_with_code(
            kind=entered.kind,
            identifier=entered.identifier,
            code=entered.code,
            keep_signed_in=entered.keep_signed_in,
            visit=visits.of(request, pending),
        )
        return shared.redirect_signed_in(request, result)

    step = code_step.CodeStep(
        purpose=Purpose.SIGN_IN,
        kinds=kinds,
        page="pages:sign-in-code",
        back_url=_get_password_url(pending, experience),
        register_url=page_url("pages:register", pending) if experience.sign_up["identifiers"] else "",
        redeem=redeem,
        asks_to_stay=experience.tenant.keep_signed_in,
    )
    return code_step.handle(request, pending, step)


def _is_code_first(request: HttpRequest, pending: Pending | None, experience: SignInExperience) -> bool:
    """Return whether the page for codes comes before this one, which has passwords and other providers.

    If the user has to sign in again, this page comes first, because it names the user.
    """
    is_first = experience.ways[0] == "verification_code" and _WITH_PASSWORD not in request.GET.items()
    return is_first and not (pending and pending.must_reauthenticate)


def _get_password_url(pending: Pending | None, experience: SignInExperience) -> str:
    if not _has_passwords(experience):
        return ""
    query = dict([_WITH_PASSWORD]) if experience.ways[0] == "verification_code" else {}
    return page_url("pages:sign-in", pending, **query)


def _has_passwords(experience: SignInExperience) -> bool:
    return any(experience.can_use_password(kind) for kind in Kind)

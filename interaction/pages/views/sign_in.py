"""The pages for signing in with a password and with a code."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from identity.core.errors import ServiceError
from identity.http.responses import redirect
from identity.sessions import cookies
from identity.users.hashing_views import hashes_password
from identity.users.identifiers import Kind
from interaction.experience.models import SignInExperience
from interaction.journeys import codes
from interaction.journeys import pending as pending_requests
from interaction.journeys import sign_in as signing_in
from interaction.journeys.pending import Pending
from interaction.pages import context, labels
from interaction.pages.forms import SignInForm
from interaction.pages.views import code_step, shared
from interaction.pages.views.code_step import EnteredCode
from interaction.social import offers
from interaction.verification.models import Purpose


@hashes_password()
@shared.step
def sign_in(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for identifier and password."""
    if request.method != "POST":
        form = SignInForm(initial={"identifier": pending.authorization.login_hint[:254] if pending else ""})
        return _page(request, pending, form)
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _page(request, pending, form, 400)
    try:
        result = signing_in.sign_in_with_password(
            **form.cleaned_data,
            pending=pending,
            current=cookies.current_session(request),
            known=cookies.get_known_users(request),
        )
    except ServiceError as error:
        if error.reason == "invalid_credentials":
            form.add_error(None, _("That does not match any account. Check both fields and try again."))
        else:
            shared.add_error(form, error)
        return shared.add_error_headers(_page(request, pending, form, error.status), error)
    return shared.redirect_signed_in(request, result)


def _page(request: HttpRequest, pending: Pending | None, form: SignInForm, status: int = 200) -> HttpResponse:
    experience = context.get_experience(request)
    offered = codes.get_offered_kinds(experience)
    kinds = [kind for kind in Kind if experience.can_use_password(kind)]
    urls = {}
    if offered[Purpose.SIGN_IN]:
        urls["code_url"] = shared.page_url("pages:sign-in-code", pending)
    if kinds and offered[Purpose.FORGOT_PASSWORD]:
        urls["forgot_url"] = shared.page_url("pages:forgot-password", pending)
    if experience.sign_up["identifiers"]:
        urls["register_url"] = shared.page_url("pages:register", pending)
    must_reauthenticate = pending is not None and pending.must_reauthenticate
    social_offers = offers.get_offers(must_reauthenticate=must_reauthenticate)
    if pending and must_reauthenticate and not (kinds or social_offers or "code_url" in urls):
        return redirect(pending_requests.refuse_reauthentication(pending))
    if not (kinds or social_offers or form.is_bound) and "code_url" in urls:
        return redirect(urls["code_url"])
    return shared.render_page(
        request,
        "sign_in",
        pending,
        status,
        brand=context.get_brand(experience),
        form=form,
        takes_password=bool(kinds),
        identifier_label=labels.identifier_label(kinds),
        identifier_autocomplete="username",
        **urls,
        offers=social_offers,
    )


@shared.step
def code(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for an email or phone, then for the code that was sent to it."""
    experience = context.get_experience(request)
    kinds = codes.get_offered_kinds(experience)[Purpose.SIGN_IN]
    if not kinds and _has_passwords(experience):
        return redirect(shared.page_url("pages:sign-in", pending))

    def redeem(entered: EnteredCode) -> HttpResponse:
        result = signing_in.sign_in_with_code(
            kind=entered.kind,
            identifier=entered.identifier,
            code=entered.code,
            browser=entered.browser,
            pending=pending,
            current=cookies.current_session(request),
        )
        return shared.redirect_signed_in(request, result)

    step = code_step.CodeStep(
        purpose=Purpose.SIGN_IN,
        kinds=kinds,
        page="pages:sign-in-code",
        back_url=shared.page_url("pages:sign-in", pending) if _has_passwords(experience) else "",
        register_url=shared.page_url("pages:register", pending) if experience.sign_up["identifiers"] else "",
        redeem=redeem,
    )
    return code_step.handle(request, pending, step)


def _has_passwords(experience: SignInExperience) -> bool:
    return any(experience.can_use_password(kind) for kind in Kind)

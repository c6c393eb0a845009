"""Who is there?"""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from identity.core.errors import ServiceError
from identity.http.responses import redirect
from identity.sessions import cookies
from identity.users.hashing_views import hashes_password
from identity.users.identifiers import Kind
from interaction.experience.models import SignInExperience
from interaction.journeys import codes
from interaction.journeys import pending as waiting
from interaction.journeys import sign_in as signing_in
from interaction.journeys.pending import Pending
from interaction.journeys.sign_in import SignedIn
from interaction.pages import context, words
from interaction.pages.forms import SignInForm
from interaction.pages.views import code_step, shared
from interaction.pages.views.code_step import Entered
from interaction.social import offers
from interaction.verification.models import Purpose


@hashes_password()
@shared.step
def sign_in(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for identifier and password."""
    if request.method != "POST":
        form = SignInForm(initial={"identifier": pending.asked.login_hint[:254] if pending else ""})
        return _page(request, pending, form)
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _page(request, pending, form, 400)
    try:
        signed_in = signing_in.with_password(
            **form.cleaned_data,
            pending=pending,
            current=cookies.current_session(request),
            known=cookies.get_known_users(request),
        )
    except ServiceError as error:
        if error.reason == "invalid_credentials":
            form.add_error(None, _("That does not match any account. Check both fields and try again."))
        else:
            shared.tell(form, error)
        return shared.refused(_page(request, pending, form, error.status), error)
    return enter(request, signed_in)


def enter(request: HttpRequest, signed_in: SignedIn) -> HttpResponse:
    """Let a person in who has signed in."""
    response = redirect(signed_in.redirect_to)
    cookies.set_sign_in(request, response, signed_in.user, signed_in.session_token)
    return response


def _page(request: HttpRequest, pending: Pending | None, form: SignInForm, status: int = 200) -> HttpResponse:
    shown = context.shown_on(request)
    offered = codes.offered(shown)
    kinds = [kind for kind in Kind if shown.can_use_password(kind)]
    ways = {}
    if offered[Purpose.SIGN_IN]:
        ways["code_url"] = shared.address("pages:sign-in-code", pending)
    if kinds and offered[Purpose.FORGOT_PASSWORD]:
        ways["forgot_url"] = shared.address("pages:forgot-password", pending)
    if shown.sign_up["identifiers"]:
        ways["register_url"] = shared.address("pages:register", pending)
    must_reauthenticate = pending is not None and pending.must_reauthenticate
    social_offers = offers.get_offers(must_reauthenticate=must_reauthenticate)
    if pending and must_reauthenticate and not (kinds or social_offers or "code_url" in ways):
        return redirect(waiting.refused(pending))
    if not (kinds or social_offers or form.is_bound) and "code_url" in ways:
        return redirect(ways["code_url"])
    return shared.page(
        request,
        "sign_in",
        pending,
        status,
        brand=context.brand_of(shown),
        form=form,
        takes_password=bool(kinds),
        identifier_label=words.label(kinds),
        identifier_autocomplete="username",
        **ways,
        offers=social_offers,
    )


@shared.step
def code(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Sign in with a code."""
    shown = context.shown_on(request)
    kinds = codes.offered(shown)[Purpose.SIGN_IN]
    if not kinds and _takes_passwords(shown):
        return redirect(shared.address("pages:sign-in", pending))

    def entered(entered: Entered) -> HttpResponse:
        return enter(
            request,
            signing_in.with_code(
                kind=entered.kind,
                identifier=entered.identifier,
                code=entered.code,
                browser=entered.browser,
                pending=pending,
                current=cookies.current_session(request),
            ),
        )

    step = code_step.CodeStep(
        purpose=Purpose.SIGN_IN,
        kinds=kinds,
        page="pages:sign-in-code",
        back_url=shared.address("pages:sign-in", pending) if _takes_passwords(shown) else "",
        register_url=shared.address("pages:register", pending) if shown.sign_up["identifiers"] else "",
        entered=entered,
    )
    return code_step.walk(request, pending, step)


def _takes_passwords(shown: SignInExperience) -> bool:
    return any(shown.can_use_password(kind) for kind in Kind)

"""The pages of the user's second factors."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.factors.errors import EnrolmentExpired
from identity.http.responses import redirect
from identity.sessions.models import Session
from interaction.journeys.account import factor_names, factors
from interaction.journeys.second_factor import backup, browser_cookies, reauthentication
from interaction.pages import context, error_messages
from interaction.pages.account_forms import AuthenticatorForm, FactorNameForm, FactorsForm
from interaction.pages.views.account import removal, shared


@shared.account_page
def security(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the second factors of the user, rename or remove one, and switch the second step on or off."""
    if "rename" in (request.POST or request.GET):
        return _rename(request, session)
    if request.method == "POST":
        return _change(request, session)
    return _overview(request, session, FactorsForm(session))


def _change(request: HttpRequest, session: Session) -> HttpResponse:
    form = FactorsForm(session, request.POST)
    if "remove" in request.POST:
        response = removal.remove(request, session, form, back="pages:account-security")
        return response or _overview(request, session, form)

    def switch() -> str:
        is_on = request.POST.get("two_step") == "on"
        factors.switch_two_step(session, is_on=is_on, password=form.entered_password)
        return "on" if is_on else "off"

    done = shared.attempt(form, switch)
    if done is None:
        return _overview(request, session, form)
    return shared.redirect_done("pages:account-security", done)


def _rename(request: HttpRequest, session: Session) -> HttpResponse:
    factor = factor_names.find(session, (request.POST or request.GET)["rename"])
    form = FactorNameForm(session, shared.form_data(request), initial={"name": factor.name})

    def rename() -> str:
        name = form.cleaned_data["name"]
        factor_names.rename(session, str(factor.id), name=name, password=form.entered_password)
        return "renamed"

    if done := shared.attempt(form, rename):
        return shared.redirect_done("pages:account-security", done)
    must_enter = reauthentication.must_enter_password(session)
    return shared.render_page(
        request, session, "rename_factor", form=form, factor=factor, must_enter_password=must_enter
    )


def _overview(request: HttpRequest, session: Session, form: FactorsForm) -> HttpResponse:
    overview = factors.get_overview(session, context.get_experience(request))
    if overview is None:
        return redirect(reverse("pages:account"))
    return shared.render_page(
        request,
        session,
        "security",
        form=form,
        overview=overview,
        backup_codes=factors.count_backup_codes(session) if overview.may_have_backup_codes else 0,
        must_enter_password=reauthentication.must_enter_password(session),
    )


@shared.confirmed_page
def authenticator(request: HttpRequest, session: Session) -> HttpResponse:
    """Show a secret for an authenticator, and set it up."""
    form = AuthenticatorForm(session, shared.form_data(request))
    if request.method != "POST":
        must_sign_in = reauthentication.must_sign_in_for_factors(session)
        offer = None if must_sign_in else factors.begin_authenticator(session)
        return _authenticator_page(request, session, form, offer)
    try:
        offer = factors.begin_authenticator(session, repeated=request.POST.get("enrolment", ""))
    except reauthentication.SignInAgain as error:
        form.refusal = error
        return _authenticator_page(request, session, form, None)
    except EnrolmentExpired as error:
        form.refusal = error
        for message in error_messages.get_messages(error):
            form.add_error(None, message)
        return _authenticator_page(request, session, form, factors.begin_authenticator(session))
    renewed = shared.attempt(
        form,
        lambda: factors.add_authenticator(
            session,
            enrolment=form.cleaned_data["enrolment"],
            code=form.cleaned_data["code"],
            name=form.cleaned_data["name"],
            password=form.entered_password,
        ),
    )
    if renewed is None:
        return _authenticator_page(request, session, form, offer)
    page = "pages:account-backup-codes" if backup.should_offer(session) else "pages:account-security"
    response = shared.redirect_done(page, "added")
    browser_cookies.set_renewed(request, response, renewed)
    return response


def _authenticator_page(
    request: HttpRequest, session: Session, form: AuthenticatorForm, offer: object
) -> HttpResponse:
    must_enter = reauthentication.must_enter_password(session)
    return shared.render_page(
        request, session, "authenticator", form=form, offer=offer, must_enter_password=must_enter
    )


@shared.confirmed_page
def codes(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask whether to replace the backup codes, and show the new ones once."""
    overview = factors.get_overview(session, context.get_experience(request))
    if overview is None or not overview.may_have_backup_codes:
        return redirect(reverse("pages:account-security"))
    form = FactorsForm(session, shared.form_data(request))
    new: list[str] = []
    if request.method == "POST":
        new = (
            shared.attempt(form, lambda: factors.renew_backup_codes(session, password=form.entered_password))
            or []
        )
    return shared.render_page(
        request,
        session,
        "backup_codes",
        form=form,
        codes=new,
        file="\r\n".join(new),
        left=factors.count_backup_codes(session),
        must_enter_password=reauthentication.must_enter_password(session),
    )

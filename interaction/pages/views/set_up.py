"""The pages that set up a second factor during a sign-in, and show backup codes."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.core.errors import ServiceError
from identity.factors.errors import EnrolmentExpired
from identity.factors.kinds import FactorType
from identity.http.responses import add_headers, redirect
from interaction.journeys.pending import page_url
from interaction.journeys.second_factor import backup, current_step, setting_up
from interaction.journeys.second_factor.authenticator_setup import Offer
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.sign_ins import Visit, get_step_url
from interaction.pages import factor_page, passkey_part
from interaction.pages.forms import SetUpForm
from interaction.pages.views import shared
from interaction.pages.views.second_factor import leave, start_again
from interaction.pending_sign_ins.services import NothingPending


@shared.second_step
def set_up(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask a user without a second factor to set one up."""
    try:
        step = current_step.find(visit)
        if step.need.methods:
            return redirect(get_step_url(step.need, visit.pending))
        if request.method != "POST":
            return _page(request, step, SetUpForm(), _begin(step))
        if "skip" in request.POST or "cancel" in request.POST:
            return leave(request, step, refuse=partial(_refuse, request, step))
        if FactorType.TOTP not in step.need.enrolable:  # the page was open for too long
            return _page(request, step, SetUpForm(), None, 403)
        return _confirm(request, step)
    except NothingPending as error:
        return start_again(visit, error)


def _begin(step: SecondStep) -> Offer | None:
    return setting_up.begin_totp(step) if FactorType.TOTP in step.need.enrolable else None


def _refuse(request: HttpRequest, step: SecondStep, error: ServiceError) -> HttpResponse:
    notice = factor_page.describe_refusal(error)
    return _page(request, step, SetUpForm(), _begin(step), error.status, notice=notice)


def _confirm(request: HttpRequest, step: SecondStep) -> HttpResponse:
    form = SetUpForm(request.POST)
    try:
        offer = setting_up.begin_totp(step, repeated=request.POST.get("enrolment", ""))
    except EnrolmentExpired as error:
        shared.add_error(form, error)
        return _page(request, step, form, setting_up.begin_totp(step), error.status)
    if not form.is_valid():
        return _page(request, step, form, offer, 400)
    try:
        return shared.redirect_signed_in(request, setting_up.confirm_totp(step, **form.cleaned_data))
    except NothingPending:
        raise
    except ServiceError as error:
        shared.add_error(form, error, "code" if error.reason == "second_factor_wrong" else None)
        return add_headers(_page(request, step, form, offer, error.status), error.headers)


def _page(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest,
    step: SecondStep,
    form: SetUpForm,
    offer: Offer | None,
    status: int = 200,
    *,
    notice: str = "",
) -> HttpResponse:
    pending = step.visit.pending
    has_passkeys = FactorType.WEBAUTHN in step.need.enrolable
    return shared.render_page(
        request,
        "set_up",
        pending,
        status,
        form=form,
        notice=notice,
        offer=offer,
        passkey=passkey_part.for_set_up(signs_in=False, is_factor=True) if has_passkeys else None,
        action=reverse("pages:set-up"),
        may_skip=step.need.may_skip,
        may_cancel=step.may_cancel,
        is_stale=step.is_stale,
        is_possible=bool(step.need.enrolable),
        sign_in_url=page_url("pages:sign-in", pending),
        other_account_url=page_url("pages:sign-in", pending, switch="1"),
    )


@shared.second_step
def backup_codes(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Offer backup codes after the first factor was set up, and show them once."""
    if visit.current is None:
        return start_again(visit)
    if request.method != "POST" and not backup.should_offer(visit.current):
        return redirect(visit.next_url)
    try:
        codes = backup.renew_if_due(visit.current) if request.method == "POST" else []
    except ServiceError:
        return redirect(visit.next_url)
    return shared.render_page(
        request,
        "backup_codes",
        visit.pending,
        codes=codes,
        ends_others=not codes and backup.has_codes(visit.current),
        file="\r\n".join(codes),
        next_url=visit.next_url,
        action=reverse("pages:backup-codes"),
    )

"""The page that asks for the second factor of a sign-in."""

from collections.abc import Callable
from functools import partial
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.core.errors import ServiceError
from identity.factors.challenges import Ceremony
from identity.factors.kinds import FactorType
from identity.http.responses import add_headers, redirect
from interaction.journeys.pending import page_url
from interaction.journeys.second_factor import current_step, leaving, next_step, verifying
from interaction.journeys.second_factor.current_step import NothingToProve, SecondStep
from interaction.journeys.second_factor.sign_ins import Visit, get_step_url
from interaction.pages import factor_page
from interaction.pages.factor_page import FactorForm
from interaction.pages.views import shared
from interaction.pending_sign_ins.services import NothingPending

_URL: Final = "pages:second-factor"


@shared.second_step
def second_factor(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask for the second factor, and start the session."""
    try:
        step = current_step.find(visit)
        if not step.need.methods:
            return redirect(get_step_url(step.need, visit.pending))
        if request.method != "POST":
            return _page(request, step, FactorForm())
        if "skip" in request.POST or "cancel" in request.POST:
            return leave(request, step, refuse=partial(_refuse, request, step))
        return _prove(request, step)
    except NothingPending as error:
        return start_again(visit, error)


def start_again(visit: Visit, error: NothingPending | None = None) -> HttpResponse:
    """Redirect a browser without a pending sign-in: to the next page if it is signed in, else to sign in.

    If its user can prove nothing more, the request asks no more.
    """
    if isinstance(error, NothingToProve):
        return redirect(leaving.continue_unfulfilled(visit))
    if visit.current is not None:
        return redirect(visit.next_url)
    return redirect(page_url("pages:sign-in", visit.pending))


def leave(
    request: HttpRequest, step: SecondStep, *, refuse: Callable[[ServiceError], HttpResponse]
) -> HttpResponse:
    """Skip or cancel the step. If that is refused, return the page of ``refuse``.

    Raises:
        NothingPending: another request has finished the sign-in.

    """
    try:
        if "skip" in request.POST:
            return shared.redirect_signed_in(request, leaving.skip(step))
        return redirect(leaving.cancel(step))
    except NothingPending:
        raise
    except ServiceError as error:
        return add_headers(refuse(error), error.headers)


def _refuse(request: HttpRequest, step: SecondStep, error: ServiceError) -> HttpResponse:
    notice = factor_page.describe_refusal(error)
    return _page(request, step, FactorForm(), error.status, notice=notice, error=error)


def _prove(request: HttpRequest, step: SecondStep) -> HttpResponse:
    form = FactorForm(request.POST)
    factor = factor_page.get_factor(request, step.need.methods)
    is_recovery = factor_page.is_recovery(request)
    if "send" in request.POST:
        return _send(request, step, factor)
    if not form.is_valid():
        return _page(request, step, form, 400)
    try:
        if is_recovery:
            result = verifying.redeem_recovery_code(step, code=form.cleaned_data["code"])
        else:
            result = verifying.verify(step, factor=factor, **form.cleaned_data)
    except NothingPending:
        raise
    except ServiceError as error:
        field = "code" if error.reason == "second_factor_wrong" else None
        shared.add_error(form, error, field, is_recovery=is_recovery)
        return add_headers(_page(request, step, form, error.status), error.headers)
    return shared.redirect_signed_in(request, result)


def _send(request: HttpRequest, step: SecondStep, factor: FactorType) -> HttpResponse:
    try:
        verifying.send_code(step, factor=factor)
    except NothingPending:
        raise
    except ServiceError as error:
        return add_headers(_refuse(request, step, error), error.headers)
    return _page(request, step, FactorForm(), is_sent=True)


def _get_remember_days(step: SecondStep) -> int | None:
    """Return for how many days the user may ask not to be asked again; None if the user may not."""
    trusted = step.experience.trusted_devices
    return trusted.days if trusted and next_step.may_remember(step) else None


def _page(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest,
    step: SecondStep,
    form: FactorForm,
    status: int = 200,
    *,
    is_sent: bool = False,
    notice: str = "",
    error: ServiceError | None = None,
) -> HttpResponse:
    pending = step.visit.pending
    methods = next_step.get_methods(step.user, step.need)
    return shared.render_page(
        request,
        "second_factor",
        pending,
        status,
        form=form,
        action=reverse(_URL),
        is_reset=step.is_reset,
        may_skip=step.need.may_skip,
        may_cancel=step.may_cancel,
        notice=notice,
        remember_days=_get_remember_days(step),
        other_account_url=page_url("pages:sign-in", pending, switch="1"),
        **factor_page.describe(
            request,
            step.user,
            methods,
            form,
            is_sent=is_sent,
            error=error,
            ceremony=Ceremony.SECOND_FACTOR,
            page=partial(page_url, _URL, pending),
            has_recovery=verifying.can_recover(step),
        ),
    )

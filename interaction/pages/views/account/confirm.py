"""The page that asks a signed-in user for the second factor before a sensitive change."""

from functools import partial
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.core.errors import ServiceError
from identity.factors.challenges import Ceremony
from identity.http.responses import add_headers, redirect
from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys.second_factor import (
    available_factors,
    browser_cookies,
    reauthentication,
    session_proofs,
)
from interaction.journeys.second_factor.next_step import Method
from interaction.pages import context, factor_page
from interaction.pages.factor_page import FactorForm
from interaction.pages.views import shared as pages
from interaction.pages.views.account import shared

_URL: Final = "pages:confirm"


@shared.account_page
def confirm(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the second factor, then go back to the page that needs it."""
    sent = request.POST if request.method == "POST" else request.GET
    back = shared.get_page_to_return_to(sent.get("back", ""))
    factors = reauthentication.get_factors(session, context.get_experience(request).factor_policy)
    if not factors or (request.method != "POST" and reauthentication.has_recent_factor(session)):
        return redirect(reverse(f"pages:{back}"))
    methods = [Method(factor, available_factors.mask_address(session.user, factor)) for factor in factors]
    if request.method != "POST":
        return _page(request, session, methods, FactorForm(), back)
    factor = factor_page.get_factor(request, factors)
    form = FactorForm() if "send" in request.POST else FactorForm(request.POST)
    try:
        if "send" in request.POST:
            session_proofs.send_code(session, cookies.get_known_users(request), factor=factor)
            return _page(request, session, methods, form, back, is_sent=True)
        if not form.is_valid():
            return _page(request, session, methods, form, back, status=400)
        renewed = session_proofs.confirm(session, factor=factor, code=form.cleaned_data["code"])
    except ServiceError as error:
        if form.is_bound:
            pages.add_error(form, error, "code" if error.reason == "second_factor_wrong" else None)
        page = _page(request, session, methods, form, back, status=error.status, error=error)
        return add_headers(page, error.headers)
    response = redirect(reverse(f"pages:{back}"))
    browser_cookies.set_renewed(request, response, renewed)
    return response


def _page(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest,
    session: Session,
    methods: list[Method],
    form: FactorForm,
    back: str,
    *,
    status: int = 200,
    is_sent: bool = False,
    error: ServiceError | None = None,
) -> HttpResponse:
    notice = factor_page.describe_refusal(error) if error and not form.is_bound else ""
    return pages.render_page(
        request,
        "second_factor",
        None,
        status,
        form=form,
        action=reverse(_URL),
        back=back,
        notice=notice,
        **factor_page.describe(
            request,
            session.user,
            methods,
            form,
            is_sent=is_sent,
            error=error,
            page=partial(_get_url, back),
            ceremony=Ceremony.CONFIRM,
            next_url=reverse(f"pages:{back}"),
        ),
    )


def _get_url(back: str, **query: str) -> str:
    return f"{reverse(_URL)}?{urlencode({'back': back, **query})}"

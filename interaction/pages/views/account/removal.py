"""Removing a second factor, on both pages that list them."""

from django.http import HttpRequest, HttpResponse

from identity.factors.kinds import FactorType
from identity.sessions.models import Session
from interaction.journeys.account import factors
from interaction.journeys.second_factor import browser_cookies
from interaction.pages.account_forms import FactorsForm
from interaction.pages.views.account import shared


def remove(request: HttpRequest, session: Session, form: FactorsForm, *, back: str) -> HttpResponse | None:
    """Remove the factor that a form names, and redirect to the page ``back``.

    Return None if that was refused: the form has the messages.
    """
    done = shared.attempt(
        form, lambda: factors.remove(session, request.POST.get("remove", ""), password=form.entered_password)
    )
    if done is None:
        return None
    removed, renewed = done
    response = shared.redirect_done(back, "passkey-removed" if removed is FactorType.WEBAUTHN else "removed")
    browser_cookies.set_renewed(request, response, renewed)
    return response

"""The cookies that a browser gets after a sign-in, and after its session got a new secret."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from identity.sessions import cookies
from interaction.journeys.second_factor.confirming import Renewed
from interaction.journeys.second_factor.sign_ins import Outcome, SecondFactorNeeded, SignInResult


def set_outcome(request: HttpRequest, response: HttpResponseBase, outcome: Outcome) -> None:
    """Set the cookies of the session, or those of a new browser that must prove a second factor first."""
    if isinstance(outcome, SignInResult):
        cookies.set_sign_in(
            request,
            response,
            outcome.user,
            outcome.session_token,
            seconds=outcome.cookie_seconds,
            known=outcome.known,
        )
    elif isinstance(outcome, SecondFactorNeeded) and outcome.browser_token:
        cookies.set_browser(response, outcome.browser_token)


def set_renewed(request: HttpRequest, response: HttpResponseBase, renewed: Renewed) -> None:
    """Set the new secret of a session."""
    user = renewed.session.user
    cookies.set_sign_in(request, response, user, renewed.token, seconds=renewed.cookie_seconds)

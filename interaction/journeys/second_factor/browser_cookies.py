"""The cookies that a browser gets after a sign-in, and after its session got a new secret."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from identity.sessions import cookies
from interaction.journeys.second_factor.session_proofs import Renewed
from interaction.journeys.second_factor.sign_ins import Outcome, SignInResult


def set_outcome(request: HttpRequest, response: HttpResponseBase, outcome: Outcome) -> None:
    """Set the cookies of the session or, if a step is missing, the secret that the browser needs for it."""
    if isinstance(outcome, SignInResult):
        cookies.set_sign_in(
            request,
            response,
            outcome.user,
            outcome.session_token,
            seconds=outcome.cookie_seconds,
            known=outcome.known,
        )
    elif outcome.secret is not None:
        cookies.add_proof(request, response, outcome.secret)


def set_renewed(request: HttpRequest, response: HttpResponseBase, renewed: Renewed) -> None:
    """Set the new secret of a session."""
    user = renewed.session.user
    cookies.set_sign_in(request, response, user, renewed.token, seconds=renewed.cookie_seconds)

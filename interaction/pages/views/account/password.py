"""A new password."""

from django.http import HttpRequest, HttpResponse

from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.experience import policy
from interaction.experience import services as experience
from interaction.journeys.account import password as changing
from interaction.pages import refusals
from interaction.pages.account_forms import PasswordForm
from interaction.pages.views.account import shared


@shared.account_page
def password(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the password so far and a new one."""
    form = PasswordForm(session, shared.sent(request))
    if request.method == "POST":
        secret = shared.attempt(
            form,
            lambda: changing.change(
                session, current=form.given_password, new=form.cleaned_data["new_password"]
            ),
        )
        if secret is not None:
            response = shared.done("pages:account", "password")
            cookies.set_sign_in(request, response, session.user, secret)
            return response
    asked = experience.current().password_policy
    return shared.page(
        request,
        session,
        "password",
        form=form,
        rules=refusals.rules(policy.rules(asked)),
        meter=policy.has_meter(asked),
    )

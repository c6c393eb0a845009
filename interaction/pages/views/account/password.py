"""The page for a new password."""

from django.http import HttpRequest, HttpResponse

from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.experience import policy
from interaction.experience import services as experience
from interaction.journeys.account import password as changing
from interaction.pages import error_messages
from interaction.pages.account_forms import PasswordForm
from interaction.pages.views.account import shared


@shared.account_page
def password(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the current password and a new one, and change the password."""
    form = PasswordForm(session, shared.form_data(request))
    if request.method == "POST":
        secret = shared.attempt(
            form,
            lambda: changing.change(
                session, current=form.entered_password, new=form.cleaned_data["new_password"]
            ),
        )
        if secret is not None:
            response = shared.redirect_done("pages:account", "password")
            cookies.set_sign_in(request, response, session.user, secret)
            return response
    password_policy = experience.current().password_policy
    return shared.render_page(
        request,
        session,
        "password",
        form=form,
        rules=error_messages.describe_rules(policy.rules(password_policy)),
        meter=policy.has_meter(password_policy),
    )

"""The page for a new password."""

from django.http import HttpRequest, HttpResponse

from identity.sessions.models import Session
from interaction.experience import policy
from interaction.journeys.account import password as changing
from interaction.journeys.second_factor import browser_cookies
from interaction.pages import context, password_rules
from interaction.pages.account_forms import PasswordForm
from interaction.pages.views.account import shared


@shared.confirmed_page
def password(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the current password and a new one, and change the password."""
    form = PasswordForm(session, shared.form_data(request))
    if request.method == "POST":
        renewed = shared.attempt(
            form,
            lambda: changing.change(
                session, current=form.entered_password, new=form.cleaned_data["new_password"]
            ),
        )
        if renewed is not None:
            response = shared.redirect_done("pages:account", "password")
            browser_cookies.set_renewed(request, response, renewed)
            return response
    password_policy = context.get_experience(request).password_policy
    return shared.render_page(
        request,
        session,
        "password",
        form=form,
        rules=password_rules.describe_all(policy.rules(password_policy)),
        meter=policy.has_meter(password_policy),
    )

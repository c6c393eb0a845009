"""What the account says of its person."""

from django.http import HttpRequest, HttpResponse

from identity.sessions.models import Session
from interaction.journeys.account import profile as changing
from interaction.pages.account_forms import ProfileForm, UsernameForm
from interaction.pages.views.account import shared


@shared.account_page
def profile(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask what to call the person."""
    user = session.user
    form = ProfileForm(shared.sent(request), initial={"name": user.name, "avatar": user.avatar})
    if request.method == "POST":
        shared.attempt(form, lambda: changing.change(user, form.cleaned_data))
        if not form.errors:
            return shared.done("pages:account", "profile")
    return shared.page(request, session, "profile", form=form)


@shared.account_page
def username(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for another username."""
    changing.check_renaming()
    form = UsernameForm(session, shared.sent(request), initial={"username": session.user.username})
    if request.method == "POST":
        shared.attempt(
            form,
            lambda: changing.change_username(
                session, username=form.cleaned_data["username"], password=form.given_password
            ),
        )
        if not form.errors:
            return shared.done("pages:account", "username")
    return shared.page(request, session, "username", form=form)

"""The pages for name, avatar and username."""

from django.http import HttpRequest, HttpResponse

from identity.sessions.models import Session
from interaction.journeys.account import profile as changing
from interaction.pages import context, labels
from interaction.pages.account_forms import ProfileForm, UsernameForm
from interaction.pages.views.account import shared


@shared.account_page
def profile(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the name, the avatar and the members of the profile that the tenant shows."""
    user = session.user
    fields = context.get_experience(request).profile_fields
    initial = user.profile | {"name": user.name, "avatar": user.avatar}
    form = ProfileForm(fields, shared.form_data(request), initial=initial)
    if request.method == "POST":
        shared.attempt(form, lambda: changing.change(user, form.changes))
        if not form.errors:
            return shared.redirect_done("pages:account", "profile")
    shown = [{"field": form[name], **labels.describe_profile_field(name)} for name in fields]
    return shared.render_page(request, session, "profile", form=form, profile_fields=shown)


@shared.confirmed_page
def username(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for a new username."""
    experience = context.get_experience(request)
    changing.check_username_change(experience)
    form = UsernameForm(session, shared.form_data(request), initial={"username": session.user.username})
    if request.method == "POST":
        shared.attempt(
            form,
            lambda: changing.change_username(
                session,
                experience,
                username=form.cleaned_data["username"],
                password=form.entered_password,
            ),
        )
        if not form.errors:
            return shared.redirect_done("pages:account", "username")
    return shared.render_page(request, session, "username", form=form)

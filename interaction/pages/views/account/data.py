"""The pages that export the user's data and delete the account."""

from django.http import HttpRequest, HttpResponse, JsonResponse

from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys.account import deletion
from interaction.journeys.account import export as exporting
from interaction.pages import context
from interaction.pages.account_forms import ConfirmedForm, DeletionForm
from interaction.pages.views import shared as pages
from interaction.pages.views.account import shared


@shared.confirmed_page
def export(request: HttpRequest, session: Session) -> HttpResponse:
    """Return all data about the user as a file, after confirmation."""
    form = ConfirmedForm(session, shared.form_data(request))
    if request.method == "POST":
        data = shared.attempt(form, lambda: exporting.export(session, password=form.entered_password))
        if data is not None:
            response = JsonResponse(data, json_dumps_params={"indent": 2, "ensure_ascii": False})
            response["Content-Disposition"] = 'attachment; filename="account.json"'
            response["Cache-Control"] = "no-store"
            return response
    return shared.render_page(request, session, "export", form=form)


@shared.confirmed_page
def delete(request: HttpRequest, session: Session) -> HttpResponse:
    """Delete the account after confirmation."""
    experience = context.get_experience(request)
    deletion.check_allowed(experience)
    form = DeletionForm(session, shared.form_data(request))
    if request.method == "POST":
        shared.attempt(
            form,
            lambda: deletion.delete(
                session, experience, password=form.entered_password, typed=form.cleaned_data["typed"]
            ),
        )
        if not form.errors:
            response = pages.render_page(request, "account/deleted", None)
            cookies.delete_sign_in(response)
            return response
    return shared.render_page(
        request, session, "delete", form=form, phrase=deletion.confirmation_phrase(session.user)
    )

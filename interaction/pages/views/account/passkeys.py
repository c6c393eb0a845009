"""The page of the user's passkeys and security keys."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.http.responses import redirect
from identity.sessions.models import Session
from interaction.journeys.passkeys import own
from interaction.journeys.second_factor import reauthentication
from interaction.pages import context, passkey_part
from interaction.pages.account_forms import FactorsForm
from interaction.pages.views.account import removal, shared


@shared.confirmed_page
def passkeys(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the passkeys of the user, remove one, and create new ones."""
    overview = own.get_overview(session, context.get_experience(request))
    if overview is None:
        return redirect(reverse("pages:account"))
    form = FactorsForm(session, shared.form_data(request))
    if request.method == "POST":
        response = removal.remove(request, session, form, back="pages:account-passkeys")
        if response is not None:
            return response
    part = passkey_part.for_set_up(signs_in=overview.signs_in, is_factor=overview.is_factor)
    return shared.render_page(
        request,
        session,
        "passkeys",
        form=form,
        overview=overview,
        passkey=part | {"confirm_url": f"{reverse('pages:confirm')}?back=account-passkeys"},
        must_enter_password=reauthentication.must_enter_password(session),
    )

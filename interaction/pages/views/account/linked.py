"""The page of the user's accounts at other providers."""

from django.http import HttpRequest, HttpResponse

from identity.http.responses import allow_form_targets, redirect
from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys.account import linked_accounts
from interaction.journeys.second_factor import browser_cookies
from interaction.pages import labels, provider_buttons
from interaction.pages.views.account import shared
from interaction.pages.views.shared import PROVIDER_TARGETS


@shared.account_page
def linked(request: HttpRequest, session: Session) -> HttpResponse:
    """Show linked accounts, unlink one, or start linking another."""
    if "link" in request.POST:
        response = redirect("")
        browser = cookies.get_browser(request) or cookies.new_browser(response)
        response["Location"] = linked_accounts.begin_link(
            session, connector_id=request.POST["link"], browser=browser
        )
        return response
    if request.method == "POST":
        renewed = linked_accounts.unlink(session, request.POST.get("unlink", ""))
        response = shared.redirect_done("pages:account-linked", "unlinked")
        browser_cookies.set_renewed(request, response, renewed)
        return response
    response = shared.render_page(
        request,
        session,
        "linked",
        identities=[
            {
                "id": identity.pk,
                "provider": identity.provider_name,
                "known_as": identity.email or identity.name,
                "used": labels.last_used(identity.last_used_at),
            }
            for identity in linked_accounts.get_linked_accounts(session.user)
        ],
        offers=provider_buttons.describe(linked_accounts.get_offers()),
        must_sign_in_to_link=linked_accounts.must_sign_in_again(session),
    )
    allow_form_targets(response, PROVIDER_TARGETS)
    return response

"""The account page."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from identity.http.responses import redirect
from identity.organizations import memberships
from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys import codes
from interaction.journeys.account import linked_accounts
from interaction.journeys.second_factor import demands
from interaction.pages import context, factor_page
from interaction.pages.views.account import shared
from interaction.verification.models import Purpose
from oidc.grants import connections

_MAX_ORGANIZATIONS: Final = 20


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the account page."""
    return redirect(reverse("pages:account"))


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Show the signed-in user and links to all subpages."""
    session = cookies.current_session(request)
    if session is None:
        return redirect(reverse("pages:sign-in"))
    experience = context.get_experience(request)
    account = experience.account
    organizations = memberships.get_names(session.user_id, limit=_MAX_ORGANIZATIONS + 1)
    reachable = {kind.value for kind in codes.get_offered_kinds(experience)[Purpose.CHANGE]}
    return shared.render_page(
        request,
        session,
        "overview",
        browsers=Session.objects.live().filter(user=session.user_id).count(),
        applications=connections.count_connections(session.user),
        verified={"email": session.user.email_verified, "phone": session.user.phone_verified},
        proven={kind.value for kind in session.user.get_proven_addresses()},
        reachable=reachable,
        linked=len(linked_accounts.get_linked_accounts(session.user)),
        may_link=bool(linked_accounts.get_offers()),
        last_sign_in_at=session.user.last_sign_in_at,
        organizations=organizations[:_MAX_ORGANIZATIONS],
        has_more_organizations=len(organizations) > _MAX_ORGANIZATIONS,
        has_factors=experience.has_factors,
        second_factors=factor_page.join_names(demands.find_asked_for(session.user, experience.factor_policy)),
        may_rename=account["username_change"],
        may_delete=account["deletion"],
    )

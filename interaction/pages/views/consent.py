"""The pages for choosing an account, for confirming a sign-in, and for consent."""

from django.http import HttpRequest, HttpResponse

from identity.http.responses import handles_deletion, redirect
from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys import consent as consenting
from interaction.journeys.pending import Pending, page_url
from interaction.pages import application_info, labels
from interaction.pages.expired import expired_sign_in
from interaction.pages.views import shared
from oidc.grants import descriptions, requests
from oidc.grants.consents import ConsentRequest
from oidc.provider import client_responses


@shared.step
def select_account(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask with which account to continue."""
    if pending is None:
        return expired_sign_in(request)
    session = cookies.current_session(request)
    if session is None:
        return redirect(page_url("pages:sign-in", pending))
    if chosen := _follow_choice(request, pending, session):
        return chosen
    return shared.render_page(
        request,
        "select_account",
        pending,
        accounts=[shared.describe_user(session.user)],
        session_id=session.pk,
    )


@shared.step
def confirm(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for confirmation before an application without a verifiable identity gets a code (decision N9)."""
    if pending is None:
        return expired_sign_in(request)
    session = cookies.current_session(request)
    if session is None:
        return redirect(page_url("pages:sign-in", pending))
    if chosen := _follow_choice(request, pending, session):
        return chosen
    if shared.get_choice(request, session) == "cancel":
        return client_responses.send(request, consenting.deny(pending))
    return shared.render_page(
        request, "continue", pending, user=shared.describe_user(session.user), session_id=session.pk
    )


def _follow_choice(request: HttpRequest, pending: Pending, session: Session) -> HttpResponse | None:
    """Redirect a user who goes on with this account, or signs in with another; None if neither was chosen."""
    choice = shared.get_choice(request, session)
    if choice == "other":
        return redirect(page_url("pages:sign-in", pending, switch="1"))
    if choice == "continue":
        requests.record_account(pending.row, session)
        return redirect(pending.resume_url)
    return None


@shared.step
@handles_deletion
def consent(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask for consent to what the application requests."""
    if pending is None:
        return expired_sign_in(request)
    session = cookies.current_session(request)
    choice = shared.get_choice(request, session)
    if session and choice == "deny" and consenting.may_deny(session, pending):
        return client_responses.send(request, consenting.deny(pending))
    if session is None or not consenting.is_asked(session, pending):
        return redirect(pending.resume_url)
    if choice == "allow" and consenting.is_current(session, pending, request.POST.get("shown", "")):
        return redirect(consenting.allow(session, pending))
    consent_request = consenting.record_shown(session, pending)
    return shared.render_page(
        request,
        "consent",
        pending,
        user=shared.describe_user(session.user),
        session_id=session.pk,
        scopes=labels.describe_scopes(consent_request.identity),
        targets=_targets(consent_request),
        shown=consenting.shown_digest(pending),
        info=application_info.describe(pending.application),
    )


def _targets(consent_request: ConsentRequest) -> list[dict[str, object]]:
    """Return the descriptions of the requested API and organization."""
    return [
        labels.describe_target(description)
        for description in descriptions.describe(consent_request.targets()).values()
    ]

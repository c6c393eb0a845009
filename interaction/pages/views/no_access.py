"""The page for users who may not use the application that sent them (decision Q11)."""

from django.http import HttpRequest, HttpResponse

from identity.http.responses import redirect
from identity.sessions import cookies
from interaction.journeys import no_access as journey
from interaction.journeys.pending import Pending, page_url
from interaction.pages.expired import expired_sign_in
from interaction.pages.views import shared
from oidc.provider import client_responses


@shared.step
def no_access(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Say that the user may not use the application, and whom to ask."""
    if pending is None:
        return expired_sign_in(request)
    session = cookies.current_session(request)
    if session is None or not journey.is_refused(session, pending):
        return redirect(pending.resume_url)
    choice = shared.get_choice(request, session)
    if choice == "other":
        return redirect(page_url("pages:sign-in", pending, switch="1"))
    if choice == "back":
        return client_responses.send(request, journey.leave(pending))
    return shared.render_page(
        request,
        "no_access",
        pending,
        status=403,
        user=shared.describe_user(session.user),
        session_id=session.pk,
    )

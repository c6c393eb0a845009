"""Which account, and may the application have what it asks for?"""

from django.http import HttpRequest, HttpResponse

from identity.http.responses import gone, redirect, survives_deletion
from identity.sessions import cookies
from interaction.journeys import consent as consenting
from interaction.journeys.pending import Pending
from interaction.pages import words
from interaction.pages.views import shared
from oidc.grants import descriptions, requests
from oidc.grants.consents import ConsentRequest


@shared.step
def select_account(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask which account to go on with."""
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    choice = shared.choice(request, session)
    if session is None or choice == "other":
        return redirect(shared.address("pages:sign-in", pending))
    if choice == "continue":
        requests.note_account(pending.parked, session)
        return redirect(pending.resume)
    return shared.page(
        request, "select_account", pending, accounts=[shared.person(session.user)], session_id=session.pk
    )


@shared.step
def confirm(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask before an application gets a code that nothing proves to be itself (decision N9)."""
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    choice = shared.choice(request, session)
    if session is None or choice == "other":
        return redirect(shared.address("pages:sign-in", pending))
    if choice == "continue":
        requests.note_account(pending.parked, session)
        return redirect(pending.resume)
    if choice == "cancel":
        return redirect(consenting.deny(pending))
    return shared.page(request, "continue", pending, user=shared.person(session.user), session_id=session.pk)


@shared.step
@survives_deletion
def consent(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Ask whether the application may have what it asks for."""
    if pending is None:
        return gone(request)
    session = cookies.current_session(request)
    if session is None:
        return redirect(pending.resume)
    choice = shared.choice(request, session)
    if choice == "allow" and consenting.is_shown(session, pending, request.POST.get("shown", "")):
        return redirect(consenting.allow(session, pending))
    if choice == "deny":
        return redirect(consenting.deny(pending))
    wanted = consenting.show(session, pending)
    return shared.page(
        request,
        "consent",
        pending,
        user=shared.person(session.user),
        session_id=session.pk,
        scopes=words.described(wanted.identity),
        targets=_targets(wanted),
        shown=consenting.mark_of_shown(pending),
    )


def _targets(wanted: ConsentRequest) -> list[dict[str, object]]:
    """Return the API and the organization that the application asks for, as the page shows them."""
    return [words.target(found) for found in descriptions.describe(wanted.targets()).values()]

"""The browser that makes the second step of a sign-in."""

from django.http import HttpRequest

from database import ids
from identity.sessions import cookies
from interaction.journeys import pending as pending_requests
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.pending_sign_ins import services as pending_sign_ins


def find(request: HttpRequest, interaction: str) -> Visit:
    """Return the browser with the pending request that its sign-in belongs to.

    Without ``interaction``, that is the request of the browser's newest pending sign-in.

    Raises:
        pending.Expired: the browser has no pending request with this id.

    """
    browser, current = cookies.get_browser(request), cookies.current_session(request)
    known, stored = cookies.get_known_users(request), None
    if not interaction:
        stored = pending_sign_ins.find(browser, None)
        interaction = str(stored.request_id) if stored and stored.request_id else ""
        if stored and not interaction:
            return Visit(browser, None, current, known, stored)
    elif ids.parse(interaction) is None:
        raise pending_requests.Expired
    return Visit(browser, pending_requests.find(request, interaction), current, known, stored)

"""What a person sees of their own account."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from identity.sessions import cookies
from interaction.pages.views import shared
from oidc.provider.views.authorize import redirect


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the account page."""
    return redirect(reverse("pages:account"))


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Show who is signed in here."""
    session = cookies.current_session(request)
    if session is None:
        return redirect(reverse("pages:sign-in"))
    return shared.page(
        request,
        "account",
        None,
        user=shared.person(session.user),
        session={
            "started_at": session.auth_time,
            "ip": session.ip,
            "user_agent": session.user_agent,
        },
    )

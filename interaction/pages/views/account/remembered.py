"""The page of the browsers in which the user is not asked for a second factor."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.factors import browsers, forgetting
from identity.http import browser_names
from identity.http.responses import redirect
from identity.sessions.models import Session
from interaction.pages import context
from interaction.pages.views.account import shared


@shared.confirmed_page
def remembered_browsers(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the remembered browsers of the user, and forget one or all of them."""
    experience = context.get_experience(request)
    if not experience.has_factors:
        return redirect(reverse("pages:account"))
    if request.method == "POST":
        if request.POST.get("forget") == "all":
            forgetting.forget_all(session.user)
        else:
            forgetting.forget(session.user, request.POST.get("forget", ""))
        return shared.redirect_done("pages:account-remembered", "forgotten")
    shown = [
        {
            "id": row.pk,
            "name": browser_names.translate(row.label),
            "ip": row.ip,
            "last_seen_at": row.last_seen_at,
            "until": row.remembered_until,
        }
        for row in browsers.get_remembered(session.user, experience.trusted_devices)
    ]
    return shared.render_page(request, session, "remembered_browsers", browsers=shown)

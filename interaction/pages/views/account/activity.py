"""The page of the user's latest sign-ins."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.models import Entry
from identity.http import browser_names
from identity.sessions.models import Session
from interaction.connectors.providers import registry
from interaction.journeys.account import activity as reading
from interaction.pages.views.account import shared
from interaction.social.offers import get_offers

_WAYS: Final = {
    Event.SIGN_IN_PASSWORD: _("With your password"),
    Event.SIGN_IN_CODE: _("With a code"),
    Event.SIGN_IN_PASSKEY: _("With a passkey"),
    **dict.fromkeys(reading.REGISTRATIONS, _("Registration")),
}


@shared.account_page
def activity(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the user's latest sign-ins."""
    entries = reading.get_sign_ins(session.user)
    has_providers = any(Event(entry.key) not in _WAYS for entry in entries)
    names = {offer.connector_id: offer.name for offer in get_offers()} if has_providers else {}
    sign_ins = [_describe(entry, names) for entry in entries]
    return shared.render_page(request, session, "activity", sign_ins=sign_ins)


def _describe(entry: Entry, names: dict[str, str]) -> dict[str, object]:
    way = _WAYS.get(Event(entry.key))
    provider = _get_provider(entry, names)
    by_provider = (
        gettext("With %(provider)s") % {"provider": provider} if provider else gettext("Other provider")
    )
    return {
        "name": browser_names.describe(entry.user_agent),
        "way": str(way) if way else by_provider,
        "ip": entry.ip,
        "at": entry.created_at,
        "has_failed": entry.payload.get("result") == "failed",
    }


def _get_provider(entry: Entry, names: dict[str, str]) -> str:
    """Return the name on the provider's button, or the usual one if there is no button any more."""
    connector_id = str(entry.payload.get("connector_id", ""))
    provider = registry.find(connector_id)
    return names.get(connector_id) or (str(provider.name) if provider else connector_id)

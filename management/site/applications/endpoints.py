"""The card of an application's page with the addresses that the application has to know."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_lazy as _

from identity.core import tenancy
from identity.operator_kit.extensions import register_card
from identity.operator_kit.panels import Card
from identity.operator_kit.texts import Text
from oidc.applications.models import Application
from oidc.applications.page_sections import QUICK_START
from oidc.provider import discovery

_DISCOVERY: Final = "/.well-known/openid-configuration"
_NAMES: Final[Mapping[str, Text]] = {
    "authorization_endpoint": _("Authorization"),
    "token_endpoint": _("Token"),
    "jwks_uri": "JWKS",
    "userinfo_endpoint": _("Userinfo"),
    "end_session_endpoint": _("End session"),
    "revocation_endpoint": _("Revocation"),
}
_OF_MACHINES: Final = frozenset({"token_endpoint", "jwks_uri"})


@dataclass(frozen=True, slots=True)
class Address:
    """A value that the application's configuration needs, and its name."""

    name: Text
    value: str


def build_card(application: Application, _urls: Mapping[str, str]) -> Card:
    """Return the card: first the values that nearly every library needs, then the single endpoints."""
    issuer = tenancy.active().issuer
    is_machine = application.type == Application.Type.MACHINE
    found = discovery.get_endpoints()
    first = [
        Address(_("Client ID"), application.client_id),
        Address(_("Issuer"), issuer),
        Address(_("Discovery"), f"{issuer}{_DISCOVERY}"),
    ]
    further = [
        Address(label, found[name])
        for name, label in _NAMES.items()
        if not is_machine or name in _OF_MACHINES
    ]
    return Card("admin/endpoints.html", {"first": first, "further": further}, QUICK_START)


register_card(Application, build_card)

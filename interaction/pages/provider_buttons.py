"""The buttons of social providers on the pages: their names, icons and initials."""

from collections.abc import Iterable
from typing import Final

from interaction.connectors.choices import ICONS
from interaction.social.offers import Offer

_ONE_COLOUR: Final = {"github", "apple"}
_MOST_WITH_NAMES: Final = 3


def describe(offers: Iterable[Offer]) -> list[dict[str, object]]:
    """Return the id, name, icon and initial of each provider."""
    return [_describe(offer) for offer in offers]


def has_icons_only(buttons: list[dict[str, object]]) -> bool:
    """Return whether there are so many providers that their buttons are a row of icons."""
    return len(buttons) > _MOST_WITH_NAMES


def _describe(offer: Offer) -> dict[str, object]:
    icon = _find_icon(offer)
    return {
        "connector_id": offer.connector_id,
        "name": offer.name,
        "icon": f"gatehouse/providers/{icon}.svg" if icon else "",
        "is_one_colour": icon in _ONE_COLOUR,
        "initial": offer.name[:1].upper(),
    }


def _find_icon(offer: Offer) -> str:
    """Return the name of the icon, by the connector's id or else by the name that the tenant gave it."""
    return next((name for name in (offer.connector_id, offer.name.casefold()) if name in ICONS), "")

"""Custom claims as the rows of a table on the operators' site."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from identity.core.text_lists import join
from identity.resources.custom_claims import name_source

_PLACES: Final = {"id_token": _("ID token"), "userinfo": _("userinfo"), "access_token": _("access token")}
HEADINGS: Final = (_("Claim"), _("Source"), _("Where"))


def build_rows(claims: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return the name of each claim, its source, and the tokens that contain it."""
    return [
        (
            claim["name"],
            name_source(claim["source"]),
            capfirst(join(_PLACES[place] for place in claim["into"])),
        )
        for claim in claims
    ]

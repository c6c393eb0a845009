"""Lifetimes that have no effect, because another one always ends first."""

from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.panels import Card
from identity.operator_kit.texts import Text
from oidc.settings.models import OidcSettings

TEMPLATE: Final = "admin/unused_settings.html"
_PAIRS: Final = (
    ("session", _("Idle lifetime of sessions"), _("Maximum lifetime of sessions")),
    ("refresh_token", _("Idle lifetime of refresh tokens"), _("Maximum lifetime of refresh tokens")),
)


def build_card(row: OidcSettings, _urls: Any) -> Card | None:
    """Return the card of the idle lifetimes that have no effect, or None if there are none."""
    found = list(_find(row))
    return Card(TEMPLATE, found) if found else None


def describe_longer(label: Text, other: Text) -> str:
    """Return the sentence about a lifetime that is longer than another one."""
    text = gettext("“%(setting)s” is longer than “%(other)s”, so it has no effect.")
    return text % {"setting": label, "other": other}


def _find(row: OidcSettings) -> Iterator[str]:
    for name, idle, absolute in _PAIRS:
        if _get(row, f"{name}_idle_seconds") > _get(row, f"{name}_absolute_seconds"):
            yield describe_longer(idle, absolute)


def _get(row: OidcSettings, name: str) -> int:
    own: int | None = getattr(row, name)
    value: int = getattr(settings, name.upper()) if own is None else own
    return value

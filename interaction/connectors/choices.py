"""The cards from which operators choose a provider, and the buttons that arrange connectors."""

from typing import Any, Final

from django import forms
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.encryption import keyring
from interaction.connectors import arrangement, configs
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry

_KINDS: Final = {
    Connector.Type.SOCIAL: _("Sign-in"),
    Connector.Type.EMAIL: _("Email"),
    Connector.Type.SMS: _("SMS"),
    Connector.Type.CAPTCHA: _("CAPTCHA"),
}
# Providers with an icon in the static files of the pages.
ICONS: Final = {"google", "github", "microsoft", "apple", "wechat"}


def get_providers() -> list[Any]:
    """Return the built-in providers, grouped by what they do."""
    return [
        (label, [(item.connector_id, item.name) for item in registry.PROVIDERS if item.type == kind])
        for kind, label in _KINDS.items()
    ]


def get_name(connector: Connector) -> str:
    """Return the name on a connector's button, or that of its provider."""
    provider = registry.find(connector.connector_id)
    if provider is None:
        return connector.connector_id
    try:
        config = configs.with_defaults(provider, connector.config())
    except keyring.UnknownKey:
        return provider.name
    return configs.get_name(provider, config)


def get_kind(connector: Connector) -> str:
    """Return what a connector is for, in words."""
    return str(_KINDS[Connector.Type(connector.type)])


class ProviderCards(forms.RadioSelect):
    """Radio buttons as cards, in groups with a heading."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        groups = (
            (label, format_html_join("", *self._cards(name, str(value or ""), providers)))
            for label, providers in get_providers()
        )
        return format_html_join(
            "", '<div class="providers"><h3>{}</h3><div class="cards">{}</div></div>', groups
        )

    def _cards(self, name: str, value: str, providers: list[tuple[str, str]]) -> tuple[str, Any]:
        template = '<label class="provider">{}{}<span>{}</span></label>'
        box = '<input type="radio" name="{}" value="{}"{} required>'
        cards = (
            (
                format_html(box, name, connector_id, SafeString(" checked" if connector_id == value else "")),
                _get_tile(connector_id, label),
                label,
            )
            for connector_id, label in providers
        )
        return template, cards


class MoveButtons(forms.Widget):
    """The sign-in buttons in their order, each with two buttons that move it."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        rows = arrangement.find_arranged()
        if not rows:
            return format_html("<p>{}</p>", gettext("No sign-in provider is enabled."))
        lines = (
            (
                _get_tile(row.connector_id, get_name(row)),
                get_name(row),
                self._button(name, row, "up", is_possible=place > 0),
                self._button(name, row, "down", is_possible=place < len(rows) - 1),
            )
            for place, row in enumerate(rows)
        )
        template = "<li>{}<span>{}</span>{}{}</li>"
        return format_html('<ol class="arranged">{}</ol>', format_html_join("", template, lines))

    def _button(self, name: str, row: Connector, way: str, *, is_possible: bool) -> SafeString:
        label = gettext("Move %(name)s up") if way == "up" else gettext("Move %(name)s down")
        return format_html(
            '<button class="move" name="{}" value="{} {}" aria-label="{}"{}>{}</button>',
            name, row.pk, way, label % {"name": get_name(row)},
            SafeString("" if is_possible else " disabled"),
            "↑" if way == "up" else "↓",
        )  # fmt: skip


def _get_tile(connector_id: str, name: str) -> SafeString:
    """Return the icon of a provider, or the first letter of its name."""
    if connector_id in ICONS:
        source = static(f"gatehouse/providers/{connector_id}.svg")
        return format_html('<img class="tile" src="{}" alt="" width="20" height="20">', source)
    return format_html('<span class="tile" aria-hidden="true">{}</span>', name[:1].upper())

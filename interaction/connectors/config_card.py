"""The card of a connector's page that shows its configuration, with the secrets hidden."""

import json
from typing import Any, Final

from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit import badges
from identity.operator_kit.panels import Card, Values
from identity.operator_kit.texts import Text
from interaction.connectors import configs, forms, masking
from interaction.connectors.field_labels import CHOICES
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Provider

TITLE: Final = _("Configuration")


def build(connector: Connector, *_: Any) -> Card:
    """Return the card. The configuration of a provider that is not built in is shown as JSON."""
    provider = registry.find(connector.connector_id)
    config = masking.mask(provider, connector.config())
    lines: list[tuple[Text, Any]] = (
        _describe(provider, config)
        if provider
        else [("JSON", format_html("<pre>{}</pre>", json.dumps(config, indent=2, ensure_ascii=False)))]
    )
    return Card("admin/sections.html", [Values(TITLE, "", lines)])


def _describe(provider: Provider, config: dict[str, Any]) -> list[tuple[Text, Any]]:
    values = configs.with_defaults(provider, config)
    labels = forms.config_form(provider).base_fields
    chosen = {field.name for field in provider.fields if field.choices}
    return [
        (str(labels[name].label), _format(CHOICES.get(value, value) if name in chosen else value))
        for name, value in values.items()
    ]


def _format(value: Any) -> Any:
    if isinstance(value, bool):
        return badges.yes_or_no(value=value)
    if value == masking.MASK:
        return badges.badge(gettext("Set, not shown"), badges.QUIET)
    return "-" if value == "" else format_html("<bdi>{}</bdi>", value)

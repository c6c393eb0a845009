"""The card of a connector's pages that says what to do at the provider."""

import re
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.forms import Form
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from identity.core import tenancy
from identity.operator_kit.panels import Card
from interaction.connectors import callbacks, new_ids
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Provider
from interaction.connectors.providers.guide import Guide, WebPage

_NAME: Final = re.compile(r"\*\*(.+?)\*\*")
_CODE: Final = re.compile(r"`(.+?)`")


@dataclass(frozen=True, slots=True)
class GuideCard:
    """The content of the card."""

    provider: str
    redirect_uri: str
    steps: list[SafeString]
    console: WebPage | None
    documentation: WebPage | None
    is_open: bool
    page: str


def build_for_row(connector: Connector, *_: Any) -> Card:
    """Return the card of a connector, whose steps are folded once the connector is enabled."""
    provider = registry.find(connector.connector_id)
    uri = callbacks.get_redirect_uri(connector)
    return _build(provider, connector.connector_id, uri, is_open=not connector.enabled)


def build_for_form(connector: Connector, _: Form) -> Card:
    """Return the card of the form that changes a connector."""
    return build_for_row(connector)


def build_for_new(provider: Provider, form: Form) -> Card:
    """Return the card of the form that creates a connector, whose id the form has already."""
    pk = new_ids.read(str(form[new_ids.FIELD].value() or ""), provider.connector_id)
    return _build(provider, provider.name, _redirect_uri(pk, provider), is_open=True)


def _redirect_uri(pk: UUID | None, provider: Provider) -> str:
    return callbacks.redirect_uri(pk, type=provider.type, has_own_callback=True) if pk else ""


def _build(provider: Provider | None, name: str, redirect_uri: str, *, is_open: bool) -> Card:
    guide = provider.guide if provider else Guide()
    steps = [_format(gettext(step), redirect_uri) for step in guide.steps]
    console, documentation = _translate(guide.console), _translate(guide.documentation)
    name = provider.name if provider else name
    content = GuideCard(name, redirect_uri, steps, console, documentation, is_open, guide.page)
    return Card("admin/connector_guide.html", content)


def _translate(page: WebPage | None) -> WebPage | None:
    return replace(page, name=gettext(page.name)) if page else None


def _format(step: str, redirect_uri: str) -> SafeString:
    """Return a step as HTML."""
    origin = urlsplit(tenancy.active().issuer)
    values = {
        "{redirect_uri}": redirect_uri,
        "{origin}": f"{origin.scheme}://{origin.netloc}",
        "{host}": str(origin.hostname),
    }
    for name, value in values.items():
        step = step.replace(name, value)
    html = _NAME.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", escape(step)))
    return mark_safe(html)  # noqa: S308 - escaped above

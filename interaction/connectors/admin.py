"""Connectors, for operators. Secrets stay hidden."""

import json

from django import forms
from django.contrib import admin

from identity.core.admin import Pages
from identity.core.operations import Operation, Order
from interaction.connectors import masking, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry


class TestForm(forms.Form):
    """Where the test goes."""

    to = forms.CharField(
        required=False, max_length=254, help_text="An email address or a phone number; your own without one."
    )


def _enable(order: Order) -> str:
    services.change(order.row, {"enabled": True}, expected=order.expected)
    return "The connector is enabled."


def _disable(order: Order) -> str:
    services.change(order.row, {"enabled": False}, expected=order.expected)
    return "The connector is disabled."


def _test(order: Order) -> str:
    own = order.by.email if order.row.type == Connector.Type.EMAIL else order.by.phone
    said = services.test(order.row, to=order.fields["to"] or own)
    return f"It works: {said}."


def _remove(order: Order) -> str:
    services.remove(order.row, expected=order.expected)
    return "The connector is deleted."


@admin.register(Connector)
class ConnectorAdmin(Pages):
    """Connectors."""

    section = "Signing in"
    list_display = ("connector_id", "provider", "type", "enabled", "created_at")
    list_filter = ("type", "enabled")
    search_fields = ("connector_id",)
    shown = ("id", "connector_id", "provider", "type", "enabled", "configuration", "created_at", "updated_at")
    operations = (
        Operation(
            "enable", "Enable",
            "The newest enabled connector of a type carries messages; social ones get a button.",
            _enable, possible=lambda connector: not connector.enabled,
        ),
        Operation(
            "disable", "Disable", "Nothing goes through it until it is enabled again.",
            _disable, possible=lambda connector: connector.enabled, grave=True,
        ),
        Operation(
            "test", "Test",
            "A test message is sent, or the provider is asked whether it takes this configuration.",
            _test, form=TestForm,
        ),
        Operation("delete", "Delete", "Its configuration is gone for good.", _remove, grave=True),
    )  # fmt: skip

    @admin.display(description="Provider")
    def provider(self, connector: Connector) -> str:
        """What the provider is called."""
        provider = registry.find(connector.connector_id)
        return provider.name if provider else "not built in"

    @admin.display(description="Configuration")
    def configuration(self, connector: Connector) -> str:
        """The configuration, with its secrets hidden."""
        config = masking.masked(registry.find(connector.connector_id), connector.config())
        return json.dumps(config, indent=2, ensure_ascii=False)

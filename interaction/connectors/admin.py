"""The console's pages of connectors. Secrets can be entered and are never shown."""

import json
from functools import partial

from django.contrib import admin

from identity.operator_kit.operations import Done, Onward, Operation, Order, checked
from identity.operator_kit.pages import Pages
from interaction.connectors import callbacks, forms, masking, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Provider
from interaction.connectors.serializers import ConnectorSerializer


def _choose(order: Order) -> Onward:
    return Onward(f"create-{order.fields['connector_id']}")


def _create(provider: Provider, order: Order) -> Done:
    config = forms.submitted_config(None, provider, dict(order.fields))
    fields = {"connector_id": provider.connector_id, "type": provider.type.value, "config": config}
    connector = services.create(**checked(ConnectorSerializer, fields))
    if uri := callbacks.get_redirect_uri(connector):
        return Done(f"The connector is created. Register {uri} with the provider, then test it.", connector)
    return Done("The connector is created. Test it, and enable it when it works.", connector)


def _change(order: Order) -> str:
    config = forms.submitted_config(order.row, registry.find(order.row.connector_id), dict(order.fields))
    fields = checked(ConnectorSerializer, {"config": config}, order.row)
    services.change(order.row, fields, expected=order.expected)
    return "The configuration is changed. Test it."


def _enable(order: Order) -> str:
    services.change(order.row, {"enabled": True}, expected=order.expected)
    return "The connector is enabled."


def _disable(order: Order) -> str:
    services.change(order.row, {"enabled": False}, expected=order.expected)
    return "The connector is disabled."


def _use_own_callback(order: Order) -> str:
    services.change(order.row, {"has_own_callback": True}, expected=order.expected)
    return "The connector uses its own callback. Test signing in with it."


def _test(order: Order) -> str:
    own_address = order.by.email if order.row.type == Connector.Type.EMAIL else order.by.phone
    result = services.test(order.row, to=order.fields["to"] or own_address)
    return f"It works: {result}."


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
    shown = (
        "id", "connector_id", "provider", "type", "enabled", "redirect_uri", "configuration", "created_at",
        "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "change", "Edit", "An enabled connector uses the new configuration at once.",
            _change, form_for=lambda row: forms.config_form(registry.find(row.connector_id)),
            initial=forms.initial,
        ),
        Operation(
            "enable", "Enable",
            "Messages go through the newest enabled connector of their type. Social connectors get a button.",
            _enable, possible=lambda connector: not connector.enabled,
        ),
        Operation(
            "disable", "Disable", "Nothing goes through it until it is enabled again.",
            _disable, possible=lambda connector: connector.enabled, grave=True,
        ),
        Operation(
            "own-callback", "Use its own callback",
            "First register a further redirect URI with the provider: the one that ends with this "
            "connector's ID. Then only this provider sends its answers there.",
            _use_own_callback,
            possible=lambda connector: (
                connector.type == Connector.Type.SOCIAL and not connector.has_own_callback
            ),
        ),
        Operation(
            "test", "Test",
            "A test message is sent, or the provider is asked whether it accepts this configuration.",
            _test, form=forms.TestForm,
        ),
        Operation("delete", "Delete", "Its configuration cannot be restored.", _remove, grave=True),
        Operation(
            "create", "New connector", "First choose the provider, then configure it.", _choose,
            form=forms.ProviderForm, row_needed=False,
        ),
        *(
            Operation(
                f"create-{provider.connector_id}", f"New connector: {provider.name}",
                "It starts disabled, so that you can test it first.", partial(_create, provider),
                form=forms.config_form(provider, is_new=True), row_needed=False, hidden=True,
            )
            for provider in registry.PROVIDERS
        ),
    )  # fmt: skip

    @admin.display(description="Provider")
    def provider(self, connector: Connector) -> str:
        """The provider's name."""
        provider = registry.find(connector.connector_id)
        return provider.name if provider else "not built in"

    @admin.display(description="Redirect URI to register")
    def redirect_uri(self, connector: Connector) -> str:
        """The address to which a social provider redirects browsers."""
        return callbacks.get_redirect_uri(connector) or "-"

    @admin.display(description="Configuration")
    def configuration(self, connector: Connector) -> str:
        """The configuration, with its secrets hidden."""
        config = masking.mask(registry.find(connector.connector_id), connector.config())
        return json.dumps(config, indent=2, ensure_ascii=False)

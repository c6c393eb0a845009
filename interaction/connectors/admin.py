"""Connectors, for operators. Secrets are typed in and stay hidden."""

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
    config = forms.sent(None, provider, dict(order.fields))
    given = {"connector_id": provider.connector_id, "type": provider.type.value, "config": config}
    made = services.create(**checked(ConnectorSerializer, given))
    if uri := callbacks.redirect_uri_of(made):
        return Done(f"The connector is created. Register {uri} with the provider, then test it.", made)
    return Done("The connector is created. Test it, and enable it when it works.", made)


def _change(order: Order) -> str:
    config = forms.sent(order.row, registry.find(order.row.connector_id), dict(order.fields))
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
    return "The connector uses a callback of its own. Test signing in with it."


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
    shown = (
        "id", "connector_id", "provider", "type", "enabled", "redirect_uri", "configuration", "created_at",
        "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "change", "Edit", "The connector works with the new configuration at once, if it is enabled.",
            _change, form_for=lambda row: forms.config_form(registry.find(row.connector_id)),
            initial=forms.initial,
        ),
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
            "own-callback", "Use its own callback",
            "First register the redirect URI that ends with this connector's ID with the provider, beside "
            "the one so far. Then no other provider's answers arrive where this one's do.",
            _use_own_callback,
            possible=lambda one: one.type == Connector.Type.SOCIAL and not one.has_own_callback,
        ),
        Operation(
            "test", "Test",
            "A test message is sent, or the provider is asked whether it takes this configuration.",
            _test, form=forms.TestForm,
        ),
        Operation("delete", "Delete", "Its configuration is gone for good.", _remove, grave=True),
        Operation(
            "create", "New connector", "First the provider, then what it wants to know.", _choose,
            form=forms.ProviderForm, row_needed=False,
        ),
        *(
            Operation(
                f"create-{provider.connector_id}", f"New connector: {provider.name}",
                "It is disabled at first, so that it can be tested.", partial(_create, provider),
                form=forms.config_form(provider, is_new=True), row_needed=False, hidden=True,
            )
            for provider in registry.PROVIDERS
        ),
    )  # fmt: skip

    @admin.display(description="Provider")
    def provider(self, connector: Connector) -> str:
        """What the provider is called."""
        provider = registry.find(connector.connector_id)
        return provider.name if provider else "not built in"

    @admin.display(description="Redirect URI to register")
    def redirect_uri(self, connector: Connector) -> str:
        """Where a social provider sends browsers back to."""
        return callbacks.redirect_uri_of(connector) or "-"

    @admin.display(description="Configuration")
    def configuration(self, connector: Connector) -> str:
        """The configuration, with its secrets hidden."""
        config = masking.masked(registry.find(connector.connector_id), connector.config())
        return json.dumps(config, indent=2, ensure_ascii=False)

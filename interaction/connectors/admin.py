"""The console's pages of connectors. Secrets can be entered and are never shown."""

import json
from functools import partial

from django.contrib import admin

from identity.operator_kit.operations import Operation, ShowForm, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from interaction.connectors import callbacks, forms, masking, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Provider
from interaction.connectors.serializers import ConnectorSerializer


def _choose(submission: Submission) -> ShowForm:
    return ShowForm(f"create-{submission.fields['connector_id']}")


def _create(provider: Provider, submission: Submission) -> ShowRow:
    config = forms.submitted_config(None, provider, dict(submission.fields))
    fields = {"connector_id": provider.connector_id, "type": provider.type.value, "config": config}
    connector = services.create(**validate(ConnectorSerializer, fields))
    uri = callbacks.get_redirect_uri(connector)
    next_step = f"Register {uri} with the provider, then test it." if uri else "Test it, then enable it."
    return ShowRow(f"The connector is created. {next_step}", connector)


def _change(submission: Submission) -> str:
    connector = submission.row
    provider = registry.find(connector.connector_id)
    config = forms.submitted_config(connector, provider, dict(submission.fields))
    fields = validate(ConnectorSerializer, {"config": config}, connector)
    services.change(connector, fields, expected=submission.expected)
    return "The configuration is changed. Test it."


def _enable(submission: Submission) -> str:
    services.change(submission.row, {"enabled": True}, expected=submission.expected)
    return "The connector is enabled."


def _disable(submission: Submission) -> str:
    services.change(submission.row, {"enabled": False}, expected=submission.expected)
    return "The connector is disabled."


def _use_own_callback(submission: Submission) -> str:
    services.change(submission.row, {"has_own_callback": True}, expected=submission.expected)
    return "The connector uses its own callback. Test signing in with it."


def _test(submission: Submission) -> str:
    connector, administrator = submission.row, submission.by
    own_address = administrator.email if connector.type == Connector.Type.EMAIL else administrator.phone
    result = services.test(connector, to=submission.fields["to"] or own_address)
    return f"It works: {result}."


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return "The connector is deleted."


@admin.register(Connector)
class ConnectorAdmin(Pages):
    section = "Signing in"
    list_display = ("connector_id", "provider", "type", "enabled", "created_at")
    list_filter = ("type", "enabled")
    search_fields = ("connector_id",)
    fields = (
        "id", "connector_id", "provider", "type", "enabled", "redirect_uri", "configuration", "created_at",
        "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "change", "Edit connector", "An enabled connector uses the new configuration at once.",
            _change, form_for=lambda row: forms.config_form(registry.find(row.connector_id)),
            initial=forms.initial,
        ),
        Operation(
            "enable", "Enable connector",
            "Messages go through the newest enabled connector of their type. Social connectors get a button.",
            _enable, is_possible=lambda connector: not connector.enabled,
        ),
        Operation(
            "disable", "Disable connector", "The connector is not used until it is enabled again.",
            _disable, is_possible=lambda connector: connector.enabled, is_destructive=True,
        ),
        Operation(
            "own-callback", "Use own callback",
            "First register a further redirect URI with the provider: the one that ends with this "
            "connector's ID. Then only this provider sends its answers there.",
            _use_own_callback,
            is_possible=lambda connector: (
                connector.type == Connector.Type.SOCIAL and not connector.has_own_callback
            ),
        ),
        Operation(
            "test", "Test connector",
            "A test message is sent, or the provider is asked whether it accepts this configuration.",
            _test, form=forms.TestForm,
        ),
        Operation(
            "delete", "Delete connector", "Its configuration cannot be restored.",
            _remove, is_destructive=True,
        ),
        Operation(
            "create", "Create connector", "First choose the provider, then configure it.", _choose,
            form=forms.ProviderForm, needs_row=False,
        ),
        *(
            Operation(
                f"create-{provider.connector_id}", f"Create connector: {provider.name}",
                "It starts disabled, so that you can test it first.", partial(_create, provider),
                form=forms.config_form(provider, is_new=True), needs_row=False, hidden=True,
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

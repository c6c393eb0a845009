"""The operators' pages of connectors. Secrets can be entered and are never shown."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import admin
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.core import impacts
from identity.core.records import Gone
from identity.core.refusal_texts import translate
from identity.operator_kit import checklist, health, routes
from identity.operator_kit.extensions import register_card
from identity.operator_kit.operations import Operation, ShowForm, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Link
from interaction.connectors import (
    arrangement,
    choices,
    config_card,
    creation_admin,
    forms,
    guide_card,
    proof,
    services,
)
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.serializers import ConnectorSerializer

_MAX_SHOWN: Final = 5
_MAX_SEARCHED: Final = 100


# The labels of columns and choices of the model, which the pages translate.
_LABELS: Final = (
    gettext_noop("Connector ID"),
    gettext_noop("Created"),
    gettext_noop("Enabled"),
    gettext_noop("ID"),
    gettext_noop("Type"),
    gettext_noop("Updated"),
    gettext_noop("CAPTCHA"),
    gettext_noop("Email"),
    gettext_noop("SMS"),
    gettext_noop("Social"),
)


def _change(submission: Submission) -> str:
    connector = submission.row
    provider = registry.find(connector.connector_id)
    config = forms.submitted_config(connector, provider, dict(submission.fields))
    if provider:
        forms.check_display_name(provider, config)
    fields = validate(ConnectorSerializer, {"config": config}, connector)
    services.change(connector, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The configuration is changed. Test it.")


def _set(submission: Submission, **fields: bool) -> None:
    expected, is_proven = submission.expected, submission.is_proven
    services.change(submission.row, fields, expected=expected, is_proven=is_proven)


def _enable(submission: Submission) -> str:
    _set(submission, enabled=True)
    return gettext("The connector is enabled.")


def _disable(submission: Submission) -> str:
    _set(submission, enabled=False)
    return gettext("The connector is disabled.")


def _use_own_callback(submission: Submission) -> str:
    _set(submission, has_own_callback=True)
    return gettext("The connector uses its own callback. Test signing in with it.")


def _test(submission: Submission) -> str:
    connector, administrator = submission.row, submission.by
    own_address = administrator.email if connector.type == Connector.Type.EMAIL else administrator.phone
    result = services.test(connector, to=submission.fields.get("to") or own_address)
    return gettext("It works: %(result)s.") % {"result": translate(result)}


def _arrange(submission: Submission) -> str | ShowForm:
    pk, _, way = submission.fields["move"].partition(" ")
    if not pk:
        return gettext("The order is saved.")
    if (connector := ids.parse(pk)) is None:
        raise Gone
    arrangement.move(connector, is_up=way == "up")
    return ShowForm("arrange")


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The connector is deleted.")


@admin.register(Connector)
class ConnectorAdmin(Pages):
    section = "Connectors"
    empty = _("Connectors send emails and text messages, and offer sign-in with other providers.")
    list_display = ("name", "provider", "type", "enabled", "created_at")
    list_filter = ("type", "enabled")
    search_fields = ("connector_id",)
    field_groups = (
        (_("Connector"), ("connector_id", "provider", "type", "enabled")),
        (_("Record"), ("created_at", "updated_at", "id")),
    )
    operations = (
        Operation(
            "change", _("Edit connector"), _("An enabled connector uses the new configuration at once."),
            _change, form_for=lambda row: forms.config_form(registry.find(row.connector_id)),
            initial=forms.initial, sentence=_("Edit {name}"), card=guide_card.build_for_form,
            edits=config_card.TITLE, needs_proof=proof.passes_second_factors,
        ),
        Operation(
            "enable", _("Enable connector"),
            _("A social connector gets a button on the sign-in page. Messages of a type go through its "
            "newest enabled connector."),
            _enable, is_possible=lambda connector: not connector.enabled, sentence=_("Enable {name}"),
            needs_proof=proof.passes_second_factors,
        ),
        Operation(
            "disable", _("Disable connector"), _("The connector is not used until it is enabled again."),
            _disable, is_possible=lambda connector: connector.enabled, is_destructive=True,
            impact=impacts.measure,
            sentence=_("Disable {name}"), needs_proof=proof.sends_codes,
        ),
        Operation(
            "own-callback", _("Use own callback"),
            _("First register a further redirect URI with the provider: the one that ends with this "
            "connector's ID. Then only this provider sends its answers there."),
            _use_own_callback,
            is_possible=lambda connector: (
                connector.type == Connector.Type.SOCIAL and not connector.has_own_callback
            ),
            needs_proof=proof.passes_second_factors,
        ),
        Operation(
            "test", _("Test connector"),
            _("Sends a test message, or asks the provider whether it accepts this configuration."),
            _test, form_for=forms.test_form, sentence=_("Test {name}"), has_own_transactions=True,
        ),
        Operation(
            "delete", _("Delete connector"), _("Its configuration cannot be restored."),
            _remove, is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
            needs_proof=proof.sends_codes,
        ),
        creation_admin.CHOOSE,
        Operation(
            "arrange", _("Arrange sign-in buttons"), _("The sign-in page shows the buttons in this order."),
            _arrange, form=forms.ArrangeForm, initial=lambda _: {}, needs_row=False,
        ),
        *creation_admin.CONFIGURE,
    )  # fmt: skip

    def get_row_name(self, row: Connector) -> str:
        """Return the name on the button, or that of the provider."""
        return choices.get_name(row)

    def find_named(self, is_match: Callable[[str], bool]) -> list[tuple[Connector, str, str]]:
        """Return the connectors whose name, kind or id matches, each with name and kind, for the search."""
        rows = Connector.objects.order_by("-created_at", "-pk")[:_MAX_SEARCHED]
        named = [(row, choices.get_name(row), choices.get_kind(row)) for row in rows]
        return [found for found in named if is_match(f"{found[1]} {found[2]} {found[0].connector_id}")]

    @admin.display(description=_("Name"))
    def name(self, connector: Connector) -> str:
        """The name on the button, or that of the provider."""
        return choices.get_name(connector)

    @admin.display(description=_("Provider"))
    def provider(self, connector: Connector) -> str:
        """The provider's name."""
        provider = registry.find(connector.connector_id)
        return provider.name if provider else capfirst(gettext("not built in"))


def _has_email(_: Any) -> bool:
    return Connector.objects.filter(type=Connector.Type.EMAIL, enabled=True).exists()


_EFFECT_OF_DISABLING: Final = {
    Connector.Type.EMAIL: _("Nothing is sent through it."),
    Connector.Type.SMS: _("Nothing is sent through it."),
    Connector.Type.SOCIAL: _("Users cannot sign in with it."),
    Connector.Type.CAPTCHA: _("No page shows it."),
}


def _find_disabled() -> list[health.Problem]:
    """Return the disabled connectors, the newest ones if there are many."""
    disabled = Connector.objects.filter(enabled=False).order_by("-created_at", "-pk")
    return [
        health.Problem(
            gettext("The connector %(connector)s is disabled.") % {"connector": choices.get_name(row)},
            _EFFECT_OF_DISABLING[Connector.Type(row.type)],
            Link(gettext("Open connector"), routes.row_url(row)),
        )
        for row in disabled[:_MAX_SHOWN]
    ]


health.register("connectors.view_connector", _find_disabled)
register_card(Connector, guide_card.build_for_row)
register_card(Connector, config_card.build)
checklist.register(
    checklist.Step(
        2, _("Set up email"), _("Codes and notices are sent through an email connector."),
        "connectors.change_connector", lambda: routes.operation_url(Connector, "create", None), _has_email,
        "how-to/send-mail",
    )
)  # fmt: skip

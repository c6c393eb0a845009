"""The operators' pages that create a connector: first the provider is chosen, then it is configured."""

from functools import partial
from typing import Final

from django.forms import Form
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from identity.core.errors import ServiceError
from identity.operator_kit.operations import Operation, ShowForm, ShowRow, Submission, validate
from identity.operator_kit.panels import Card
from interaction.connectors import forms, guide_card, new_ids, proof, services
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Provider
from interaction.connectors.serializers import ConnectorSerializer


def _choose(submission: Submission) -> ShowForm:
    return ShowForm(f"create-{submission.fields['connector_id']}")


def _guide(provider: Provider, _: None, form: Form) -> Card:
    return guide_card.build_for_new(provider, form)


class FormExpired(ServiceError):
    """The form was opened in another tenant or more than a day ago."""

    reason = "form_expired"
    message = gettext_noop(
        "this form has expired: open it again, and register the redirect URI that it shows then"
    )


def _needs_proof(provider: Provider, _row: None) -> bool:
    return proof.passes_second_factors(Connector(type=provider.type.value))


def _new_form(provider: Provider, _row: None) -> type[Form]:
    return forms.config_form(provider, is_new=True)


def _create(provider: Provider, submission: Submission) -> ShowRow:
    config = forms.submitted_config(None, provider, dict(submission.fields))
    forms.check_display_name(provider, config)
    fields = {"connector_id": provider.connector_id, "type": provider.type.value, "config": config}
    signed = submission.fields[new_ids.FIELD]  # forms that nodes of an older release show lack it
    pk = new_ids.read(signed, provider.connector_id)
    if signed and pk is None:
        raise FormExpired
    checked = validate(ConnectorSerializer, fields)
    connector = services.create(**checked, pk=pk, is_proven=submission.is_proven)
    return ShowRow(gettext("The connector is created. Test it, then enable it."), connector)


CHOOSE: Final = Operation(
    "create", _("Create connector"), _("First choose the provider, then configure it."), _choose,
    form=forms.ProviderForm, needs_row=False,
)  # fmt: skip
CONFIGURE: Final = tuple(
    Operation(
        f"create-{provider.connector_id}",
        format_lazy(_("Create {provider} connector"), provider=provider.name),
        _("It starts disabled, so that you can test it first."), partial(_create, provider),
        form_for=partial(_new_form, provider), needs_row=False, hidden=True,
        card=partial(_guide, provider), needs_proof=partial(_needs_proof, provider),
    )
    for provider in registry.PROVIDERS
)  # fmt: skip

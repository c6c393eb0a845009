"""Forms for the fields that providers declare, which never show stored secrets."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_noop, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.operator_kit.json_field import JSONField
from interaction.connectors import choices, masking, new_ids
from interaction.connectors.field_labels import CHOICES, LABELS
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Field, Provider


class AnyConfigForm(forms.Form):
    """The configuration of a provider that is not built in."""

    config = JSONField(
        label=_("Configuration"),
        help_text=format_lazy(_("A JSON object; {mask} keeps a stored secret."), mask=masking.MASK),
        widget=forms.Textarea({"autocomplete": "off", "rows": 10, "spellcheck": "false"}),
    )  # fmt: skip

    def clean_config(self) -> dict[str, Any]:
        """Return the configuration.

        Raises:
            forms.ValidationError: the configuration is not a JSON object.

        """
        config = self.cleaned_data["config"]
        if not isinstance(config, dict):
            raise forms.ValidationError(gettext("must be a JSON object"))
        return config


class SecretTextarea(forms.Textarea):
    """An input of several lines that shows no value, not even the one that was just refused."""

    def format_value(self, value: Any) -> None:
        """Return no value."""


class TestForm(forms.Form):
    """The recipient of a test message."""

    to = forms.CharField(
        label=_("To"),
        required=False,
        max_length=254,
        help_text=_("An email address or a phone number. Leave it empty to send the message to yourself."),
    )


class ProviderForm(forms.Form):
    """The provider of a new connector."""

    connector_id = forms.ChoiceField(
        label=_("Provider"), choices=choices.get_providers, widget=choices.ProviderCards
    )


class ArrangeForm(forms.Form):
    """A step of the order of sign-in buttons: the id of a connector, and whether it moves up or down."""

    move = forms.RegexField(
        r"^[0-9a-f-]{36} (up|down)$",
        label=pgettext_lazy("sequence", "Order"),
        required=False,
        widget=choices.MoveButtons,
    )


def test_form(connector: Connector) -> type[forms.Form]:
    """Return the form of a connector's test, with a recipient if it sends a message."""
    return TestForm if connector.type in {Connector.Type.EMAIL, Connector.Type.SMS} else forms.Form


def config_form(provider: Provider | None, *, is_new: bool = False) -> type[forms.Form]:
    """Return the form class for a provider's configuration, in the administrator's language."""
    if provider is None:
        return AnyConfigForm
    fields = {field.name: _form_field(field, is_new=is_new) for field in provider.fields}
    if is_new:
        fields[new_ids.FIELD] = forms.CharField(
            required=False, widget=forms.HiddenInput, initial=lambda: new_ids.new(provider.connector_id)
        )
    return type("ConfigForm", (forms.Form,), fields)


def initial(connector: Connector) -> dict[str, Any]:
    """Return the initial values of a connector's form, without its secrets."""
    provider = registry.find(connector.connector_id)
    config = masking.mask(provider, connector.config())
    if provider is None:
        return {"config": config}
    public = [field for field in provider.fields if not field.secret]
    return {field.name: config.get(field.name, field.default) for field in public}


def submitted_config(
    connector: Connector | None, provider: Provider | None, submitted: dict[str, Any]
) -> dict[str, Any]:
    """Return the submitted configuration without empty fields, and with a mask for each secret to keep."""
    if provider is None:
        return dict(submitted["config"])
    config = masking.mask(provider, connector.config()) if connector else {}
    for field in provider.fields:
        value = submitted[field.name]
        if value in {None, ""}:
            if not field.secret:
                config.pop(field.name, None)
        else:
            config[field.name] = value
    return config


def check_display_name(provider: Provider, config: Mapping[str, Any]) -> None:
    """Check that the button of a provider without a name of its own gets one.

    Raises:
        Invalid: the display name is missing.

    """
    if config.get("display_name") or all(field.name != "display_name" for field in provider.fields):
        return
    host = urlsplit(str(config.get("issuer") or config.get("authorization_endpoint") or "")).hostname
    rule = fill(
        gettext_noop("is required: the name on the sign-in button, for example %(name)s"),
        name=host or provider.name,
    )
    raise Invalid("display_name", rule, code="required")


def _form_field(field: Field, *, is_new: bool) -> forms.Field:
    sentences = [gettext(field.description)]
    if field.secret and not is_new:
        sentences.append(gettext("Leave it empty to keep the stored secret."))
    elif not field.required and field.default not in {"", False}:
        default = CHOICES.get(str(field.default), field.default)
        sentences.append(gettext("The default is %(value)s.") % {"value": default})
    # The service reports missing fields, as in the API.
    options: dict[str, Any] = {
        "required": False,
        "label": LABELS[field.name],
        "help_text": " ".join(f"{sentence.removesuffix('.')}." for sentence in sentences),
    }
    if is_new and not field.secret and not field.required:
        options["initial"] = field.default
    return _KINDS[field.type](field, options)


def _text(field: Field, options: dict[str, Any]) -> forms.Field:
    if field.choices:
        choices = [("", "-"), *((choice, CHOICES.get(choice, choice)) for choice in field.choices)]
        return forms.ChoiceField(choices=choices, **options)
    if field.secret:
        kind = SecretTextarea if field.multiline else forms.PasswordInput
        widget = kind({"autocomplete": "off", "spellcheck": "false"})
        return forms.CharField(strip=False, widget=widget, **options)
    return forms.CharField(**options)


_KINDS: Final[dict[str, Callable[[Field, dict[str, Any]], forms.Field]]] = {
    "string": _text,
    "integer": lambda _, options: forms.IntegerField(**options),
    "boolean": lambda _, options: forms.BooleanField(**options),
}

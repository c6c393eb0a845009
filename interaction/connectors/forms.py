"""Forms that providers' declarations make. A secret goes in and never comes out."""

from collections.abc import Callable
from typing import Any, Final

from django import forms

from interaction.connectors import masking
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry
from interaction.connectors.providers.base import Field, Provider

_KEPT: Final = "Leave it empty to keep the one that is stored."


class AnyConfigForm(forms.Form):
    """The configuration of a provider that is not built in."""

    config = forms.JSONField(
        label="Configuration", help_text=f"A JSON object; {masking.MASK} keeps a secret that is stored.",
        widget=forms.Textarea({"rows": 10, "spellcheck": "false"}),
    )  # fmt: skip

    def clean_config(self) -> dict[str, Any]:
        """Take an object and nothing else."""
        config = self.cleaned_data["config"]
        if not isinstance(config, dict):
            raise forms.ValidationError("must be a JSON object")
        return config


class TestForm(forms.Form):
    """Where the test goes."""

    to = forms.CharField(
        required=False, max_length=254, help_text="An email address or a phone number; your own without one."
    )


def _providers() -> list[Any]:
    """Return the providers that are built in, by what they are for."""
    return [
        (kind.label, [(one.connector_id, one.name) for one in registry.PROVIDERS if one.type == kind])
        for kind in Connector.Type
    ]


class ProviderForm(forms.Form):
    """Which provider a new connector is of."""

    connector_id = forms.ChoiceField(label="Provider", choices=_providers)


def config_form(provider: Provider | None, *, is_new: bool = False) -> type[forms.Form]:
    """Return the form for the configuration of a provider."""
    if provider is None:
        return AnyConfigForm
    fields = {field.name: _drawn(field, is_new=is_new) for field in provider.fields}
    return type("ConfigForm", (forms.Form,), fields)


def initial(connector: Connector) -> dict[str, Any]:
    """Return what the form of a connector shows at first: everything but its secrets."""
    provider = registry.find(connector.connector_id)
    config = masking.masked(provider, connector.config())
    if provider is None:
        return {"config": config}
    shown = [field for field in provider.fields if not field.secret]
    return {field.name: config.get(field.name, field.default) for field in shown}


def sent(connector: Connector | None, provider: Provider | None, typed: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration as the API takes it: what is empty is unset, a secret that is kept is masked."""
    if provider is None:
        return dict(typed["config"])
    config = masking.masked(provider, connector.config()) if connector else {}
    for field in provider.fields:
        value = typed[field.name]
        if value in {None, ""}:
            if not field.secret:
                config.pop(field.name, None)
        else:
            config[field.name] = value
    return config


def _drawn(field: Field, *, is_new: bool) -> forms.Field:
    helps = [field.description]
    if field.secret and not is_new:
        helps.append(_KEPT)
    elif not field.required and field.default not in {"", False}:
        helps.append(f"Without it: {field.default}.")
    # What is missing is said by the service, as in the API.
    options: dict[str, Any] = {
        "required": False,
        "label": field.name.replace("_", " ").capitalize(),
        "help_text": " ".join(f"{said.removesuffix('.')}." for said in helps),
    }
    if is_new and not field.secret and not field.required:
        options["initial"] = field.default
    return _KINDS[field.type](field, options)


def _text(field: Field, options: dict[str, Any]) -> forms.Field:
    if field.choices:
        return forms.ChoiceField(choices=[("", "-"), *((one, one) for one in field.choices)], **options)
    if field.secret:
        widget = forms.PasswordInput({"autocomplete": "off", "spellcheck": "false"})
        return forms.CharField(strip=False, widget=widget, **options)
    return forms.CharField(**options)


_KINDS: Final[dict[str, Callable[[Field, dict[str, Any]], forms.Field]]] = {
    "string": _text,
    "integer": lambda _, options: forms.IntegerField(**options),
    "boolean": lambda _, options: forms.BooleanField(**options),
}

"""The rules of the fields of connectors."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext_noop

from identity.core.errors import FieldError, Invalid
from identity.core.refusal_texts import fill
from interaction.connectors import configs
from interaction.connectors.models import Connector
from interaction.connectors.providers import registry


def find_errors(stored: Connector | None, fields: Mapping[str, Any]) -> Iterator[FieldError]:
    """Return all errors for which the service that creates or changes a connector refuses these fields."""
    connector_id = stored.connector_id if stored else fields.get("connector_id", "")
    provider = registry.find(connector_id)
    has_own_callback = stored.has_own_callback if stored else True
    checks: dict[str, Callable[[Any], object]] = {
        "type": lambda sent: check_type(connector_id, sent),
        "config": lambda config: configs.validate(provider, config, stored.config() if stored else None),
        "has_own_callback": lambda sent: check_callback(stored=has_own_callback, sent=sent),
    }
    if stored:
        del checks["type"]  # the type cannot be changed
    for name, check in checks.items():
        try:
            if name in fields:
                check(fields[name])
        except (Invalid, configs.ConfigRefused) as refusal:
            yield from refusal.field_errors


def check_type(connector_id: str, type: str) -> None:  # noqa: A002
    """Check that a connector has the type of its provider.

    Raises:
        Invalid: the provider has another type.

    """
    provider = registry.find(connector_id)
    if provider and provider.type != type:
        rule = fill(
            gettext_noop("%(connector_id)s is of type %(type)s"),
            connector_id=connector_id,
            type=provider.type.value,
        )
        raise Invalid("type", rule, code="invalid_choice", allowed=[provider.type.value])


def check_callback(*, stored: bool, sent: bool) -> None:
    """Check that a connector with its own callback does not change to the shared one.

    Raises:
        Invalid: the connector has its own callback, and the shared one is requested.

    """
    if stored and not sent:
        rule = gettext_noop("must be true: the shared callback is for older connectors only")
        raise Invalid("has_own_callback", rule, code="immutable")

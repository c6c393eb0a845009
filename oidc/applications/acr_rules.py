"""Which applications can require a value of ``acr``, and which applications and APIs do."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.resources.models import Resource
from oidc.applications.models import Application
from oidc.settings import services as oidc_settings

FIELDS: Final = ("required_acr", "default_acr_values")


def check(fields: Mapping[str, Any], application_type: str) -> None:
    """Check that only an application with users has values of ``acr``.

    Raises:
        Invalid: a MachineToMachine application has one.

    """
    if application_type != Application.Type.MACHINE:
        return
    for name in FIELDS:
        if fields.get(name):
            rule = gettext_noop("must be empty for MachineToMachine, which has no users")
            raise Invalid(name, rule, code="conflict")


def hold(fields: Mapping[str, Any]) -> None:
    """Lock the alias that an application will require, so that it exists until the transaction ends.

    Raises:
        Invalid: the alias was removed concurrently.

    """
    required = fields.get("required_acr")
    if required and not oidc_settings.hold_acr_value(required):
        raise Invalid("required_acr", oidc_settings.ACR_RULE)


def find_uses(values: Collection[str]) -> list[tuple[str, str]]:
    """Return the names of the applications and APIs that require one of these values, each with the value."""
    return [
        use
        for model in (Application, Resource)
        for use in model.objects.filter(required_acr__in=values)
        .order_by("name", "pk")
        .values_list("name", "required_acr")
    ]

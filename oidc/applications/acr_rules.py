"""Which applications can demand strong sign-ins: those that have users."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from oidc.applications.models import Application

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

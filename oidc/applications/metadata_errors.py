"""All errors for which the metadata of an application is refused."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from identity.core.errors import FieldError, Invalid
from oidc.applications import acr_rules, allowed_lists, lifetimes, redirect_uris, services
from oidc.applications.models import Application


def find(metadata: Mapping[str, Any], application_type: str) -> Iterator[FieldError]:
    """Return the errors for which ``services`` refuses this metadata of an application of a type."""
    for name, value in metadata.items():
        if name in services.URIS:
            yield from _find_in_uris(name, value, application_type)
        elif error := _get_error(name, value, application_type):
            yield error


def _get_error(name: str, value: Any, application_type: str) -> FieldError | None:
    checks: dict[str, Callable[[], object]] = {
        "grant_types": lambda: services.validate_grant_types(value, application_type),
        "require_pkce": lambda: services.validate_require_pkce(value, application_type),
        **dict.fromkeys(acr_rules.FIELDS, lambda: acr_rules.check({name: value}, application_type)),
        **{
            list_: lambda: allowed_lists.check(name, value, application_type)
            for list_ in allowed_lists.FIELDS
        },
    }
    try:
        checks.get(name, lambda: lifetimes.check({name: value}, application_type))()
    except Invalid as refusal:
        return refusal.field_errors[0]
    return None


def _find_in_uris(name: str, uris: list[str], application_type: str) -> Iterator[FieldError]:
    if uris and application_type == Application.Type.MACHINE:
        yield FieldError(name, services.NO_URIS, "conflict")
        return
    for index, uri in enumerate(uris):
        try:
            redirect_uris.validate(uri, application_type, name)
        except Invalid as refusal:
            yield replace(refusal.field_errors[0], field=f"{name}[{index}]")

"""Configurations of connectors, checked against the fields that their provider declares."""

from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import INVALID, FieldError, ServiceError
from identity.core.refusal_texts import fill
from interaction.connectors import masking
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Provider

_TYPES: Final[dict[str, tuple[type, str]]] = {
    "string": (str, gettext_noop("must be a string")),
    "integer": (int, gettext_noop("must be a whole number")),
    "boolean": (bool, gettext_noop("must be true or false")),
}


_REQUIRED: Final = gettext_noop("is required")
_CODES: Final = {_REQUIRED: "required", **{rule: "invalid_type" for _, rule in _TYPES.values()}}


class ConfigRefused(ServiceError):
    """A configuration breaks rules of its provider."""

    reason = "invalid"

    def __init__(self, problems: dict[str, str]) -> None:
        self.field_errors = [
            FieldError(path, problem, _CODES.get(problem, INVALID)) for path, problem in problems.items()
        ]
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in problems.items()))


def validate(
    provider: Provider | None, sent: dict[str, Any], stored: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a valid configuration, with the stored secrets in place of masks.

    Raises:
        ConfigRefused: the configuration breaks rules of the provider.

    """
    config, problems = masking.unmask(provider, sent, stored or {})
    for field in provider.fields if provider else ():
        path = f"config.{field.name}"
        if path not in problems and (problem := _problem(field, config.get(field.name))):
            problems[path] = problem
    if problems:
        raise ConfigRefused(problems)
    return config


def with_defaults(provider: Provider, config: dict[str, Any]) -> Config:
    """Return the members that a provider declares, with defaults for unset members."""
    unset = (None, "")
    return {
        field.name: field.default if config.get(field.name) in unset else config[field.name]
        for field in provider.fields
    }


def get_name(provider: Provider, config: Config) -> str:
    """Return a provider's name on pages. 0.5.0 and earlier could store more than 256 characters."""
    return str(config.get("display_name") or provider.name)[: rules.LONGEST_NAME]


def changed_members(provider: Provider | None, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the changed members as the audit log names them. Undeclared members, or none, are ``config``."""
    declared = {field.name for field in provider.fields} if provider else set()
    keys = sorted(before.keys() | after.keys())
    differing = [key for key in keys if before.get(key) != after.get(key)]
    paths = [f"config.{key}" for key in differing if key in declared]
    has_undeclared = len(paths) < len(differing)
    return ["config", *paths] if has_undeclared or not differing else paths


def _problem(field: Field, value: Any) -> str | None:
    if value is None or value == "":
        return _REQUIRED if field.required else None
    kind, problem = _TYPES[field.type]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        return problem
    if isinstance(value, str) and not field.multiline and (problem := rules.one_line(value) or ""):
        return problem
    if field.choices and value not in field.choices:
        return fill(gettext_noop("must be one of %(choices)s"), choices=field.choices)
    return field.rule(value) if field.rule else None

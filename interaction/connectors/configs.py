"""Configurations against what their provider declares."""

from typing import Any, Final

from identity.core.errors import ServiceError
from interaction.connectors import masking
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Provider

_TYPES: Final[dict[str, tuple[type, str]]] = {
    "string": (str, "must be a string"),
    "integer": (int, "must be a whole number"),
    "boolean": (bool, "must be true or false"),
}


class ConfigRefused(ServiceError):
    """A configuration lacks something, or holds something that cannot be; all of it is named."""

    reason = "invalid"

    def __init__(self, problems: dict[str, str]) -> None:
        self.problems = problems
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in problems.items()))


def accepted(
    provider: Provider | None, sent: dict[str, Any], stored: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a configuration as it is to be stored, with its masked secrets put back.

    Raises:
        ConfigRefused: it is not one of this provider.

    """
    config, problems = masking.restored(provider, sent, stored or {})
    for field in provider.fields if provider else ():
        path = f"config.{field.name}"
        if path not in problems and (problem := _problem(field, config.get(field.name))):
            problems[path] = problem
    if problems:
        raise ConfigRefused(problems)
    return config


def complete(provider: Provider, config: dict[str, Any]) -> Config:
    """Return what a provider declares, and nothing else, with defaults for what is unset."""
    unset = (None, "")
    return {
        field.name: field.default if config.get(field.name) in unset else config[field.name]
        for field in provider.fields
    }


def changed(provider: Provider | None, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Name what differs, for the audit log: declared members by name, anything else as a whole."""
    declared = {field.name for field in provider.fields} if provider else set()
    keys = sorted(before.keys() | after.keys())
    differing = [key for key in keys if before.get(key) != after.get(key)]
    named = [f"config.{key}" for key in differing if key in declared]
    return named if len(named) == len(differing) > 0 else ["config", *named]


def _problem(field: Field, value: Any) -> str | None:
    if value is None or value == "":
        return "is required" if field.required else None
    kind, problem = _TYPES[field.type]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        return problem
    if isinstance(value, str) and (problem := rules.one_line(value) or ""):
        return problem
    if field.choices and value not in field.choices:
        return f"must be one of {', '.join(field.choices)}"
    return field.rule(value) if field.rule else None

"""Masks in place of the secrets of a configuration."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.providers.base import Provider

MASK: Final = "***"

_Path = tuple[str | int, ...]
_SECRET_ENDINGS: Final = ("secret", "password", "token", "privatekey", "apikey")
_DESTINATION_PARTS: Final = (
    "host", "url", "uri", "endpoint", "region", "issuer", "domain", "server", "port", "proxy", "gateway",
)  # fmt: skip


_Matches = Callable[[_Path, Any], bool]


def mask(provider: Provider | None, config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with every secret masked, at any depth.

    Without a provider it is unknown which texts are secrets, so all texts are masked.
    """
    copy: dict[str, Any] = _replace(config, (), _is_secret(provider), lambda *_: MASK)
    return copy


def unmask(
    provider: Provider | None, sent: dict[str, Any], stored: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the sent configuration with stored secrets in place of masks, and the problems by path.

    A stored secret is kept only if the destinations that receive it are unchanged. Otherwise an
    administrator who does not know the secret could have it sent to another server.
    """
    kept = dict(_matching(stored, (), _is_secret(provider)))
    unmasked = _replace(
        sent, (), _is_destination(provider), lambda path, item: _stored_destination(kept, path, item)
    )
    moved = _destinations(provider, unmasked) != _destinations(provider, stored)
    problems: dict[str, str] = {}

    def restore(path: _Path, value: Any) -> Any:
        if value != MASK:
            return value
        if path not in kept:
            problems[_dotted(path)] = fill(
                gettext_noop("%(mask)s keeps a stored secret, but there is none: send the secret"), mask=MASK
            )
        elif moved:
            problems[_dotted(path)] = gettext_noop("send the secret again: its destination has changed")
        return kept.get(path)

    config: dict[str, Any] = _replace(sent, (), _is_secret(provider), restore)
    return config, problems


def _stored_destination(kept: dict[_Path, Any], path: _Path, item: Any) -> Any:
    """Return the stored value if a destination is masked, because a mask is not a change."""
    return kept.get(path, item) if item == MASK else item


def _is_secret(provider: Provider | None) -> _Matches:
    if provider is None:
        return lambda path, item: isinstance(item, str) or _has_name_of_secret(path)
    declared = {field.name for field in provider.fields if field.secret}
    return lambda path, _: (len(path) == 1 and path[0] in declared) or _has_name_of_secret(path)


def _has_name_of_secret(path: _Path) -> bool:
    return isinstance(path[-1], str) and _normalized(path[-1]).endswith(_SECRET_ENDINGS)


def _is_destination(provider: Provider | None) -> _Matches:
    declared = {field.name for field in provider.fields if field.destination} if provider else set()
    return lambda path, _: (
        isinstance(path[-1], str)
        and (
            (len(path) == 1 and path[0] in declared)
            or any(part in _normalized(path[-1]) for part in _DESTINATION_PARTS)
        )
    )


def _destinations(provider: Provider | None, config: dict[str, Any]) -> dict[_Path, Any]:
    destinations = dict(_matching(config, (), _is_destination(provider)))
    for field in provider.fields if provider else ():
        if field.destination and destinations.get((field.name,)) == field.default:
            del destinations[field.name,]
    return destinations


def _normalized(key: str | int) -> str:
    """Return a key in lower case without separators: ``apiKey``, ``API_KEY`` and ``api-key`` are equal."""
    return re.sub(r"[^a-z0-9]", "", str(key).lower())


def _matching(value: Any, path: _Path, matches: _Matches) -> Iterator[tuple[_Path, Any]]:
    """Yield the path and the value of each matching member that is set."""
    for key, item in _members(value):
        below = (*path, key)
        if matches(below, item):
            if item not in (None, ""):
                yield below, item
        else:
            yield from _matching(item, below, matches)


def _replace(value: Any, path: _Path, matches: _Matches, replace: Callable[[_Path, Any], Any]) -> Any:
    """Return a copy with a new value for each matching member that is set."""

    def below(key: str | int, item: Any) -> Any:
        inner = (*path, key)
        if matches(inner, item):
            return item if item in (None, "") else replace(inner, item)
        return _replace(item, inner, matches, replace)

    if isinstance(value, dict):
        return {key: below(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [below(index, item) for index, item in enumerate(value)]
    return value


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _dotted(path: _Path) -> str:
    return ".".join(["config", *map(str, path)])

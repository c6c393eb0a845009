"""Secrets in configurations: what counts as one, hiding them, and keeping those that come back hidden."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from interaction.connectors.providers.base import Provider

MASK: Final = "***"

_Path = tuple[str | int, ...]
_SECRET_ENDINGS: Final = ("secret", "password", "token", "privatekey", "apikey")
_DESTINATION_PARTS: Final = (
    "host", "url", "uri", "endpoint", "region", "issuer", "domain", "server", "port", "proxy", "gateway",
)  # fmt: skip


_IsMeant = Callable[[_Path, Any], bool]


def masked(provider: Provider | None, config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with every secret hidden, however deep.

    Nobody knows which texts of a connector without a provider are secrets: all of them are hidden.
    """
    hidden: dict[str, Any] = _replaced(config, (), _is_secret(provider), lambda *_: MASK)
    return hidden


def restored(
    provider: Provider | None, sent: dict[str, Any], stored: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what was sent with the stored secrets in place of masks, and what is wrong by path.

    A stored secret stays only while everything that decides where it is sent stays: else
    whoever may edit a connector, but does not know its secret, could have it sent to them.
    """
    kept = dict(_found(stored, (), _is_secret(provider)))
    unmasked = _replaced(sent, (), _is_destination(provider), lambda path, item: _stored(kept, path, item))
    moved = _destinations(provider, unmasked) != _destinations(provider, stored)
    problems: dict[str, str] = {}

    def restore(path: _Path, value: Any) -> Any:
        if value != MASK:
            return value
        if path not in kept:
            problems[_text(path)] = f"{MASK} stands for a stored secret, and there is none: send the secret"
        elif moved:
            problems[_text(path)] = "send the secret again: what it is sent to has changed"
        return kept.get(path)

    config: dict[str, Any] = _replaced(sent, (), _is_secret(provider), restore)
    return config, problems


def _stored(kept: dict[_Path, Any], path: _Path, item: Any) -> Any:
    """Return what a mask at a destination stands for, so that hiding it does not look like moving it."""
    return kept.get(path, item) if item == MASK else item


def _is_secret(provider: Provider | None) -> _IsMeant:
    if provider is None:
        return lambda path, item: isinstance(item, str) or _is_called_secret(path)
    declared = {field.name for field in provider.fields if field.secret}
    return lambda path, _: (len(path) == 1 and path[0] in declared) or _is_called_secret(path)


def _is_called_secret(path: _Path) -> bool:
    return isinstance(path[-1], str) and _plain(path[-1]).endswith(_SECRET_ENDINGS)


def _is_destination(provider: Provider | None) -> _IsMeant:
    declared = {field.name for field in provider.fields if field.destination} if provider else set()
    return lambda path, _: (
        isinstance(path[-1], str)
        and (
            (len(path) == 1 and path[0] in declared)
            or any(part in _plain(path[-1]) for part in _DESTINATION_PARTS)
        )
    )


def _destinations(provider: Provider | None, config: dict[str, Any]) -> dict[_Path, Any]:
    found = dict(_found(config, (), _is_destination(provider)))
    for field in provider.fields if provider else ():
        if field.destination and found.get((field.name,)) == field.default:
            del found[field.name,]
    return found


def _plain(key: str | int) -> str:
    """Return a key without what people write differently: ``apiKey``, ``API_KEY``, ``api-key``."""
    return re.sub(r"[^a-z0-9]", "", str(key).lower())


def _found(value: Any, path: _Path, is_meant: _IsMeant) -> Iterator[tuple[_Path, Any]]:
    """Yield what is meant, by path; what is unset is not there."""
    for key, item in _members(value):
        below = (*path, key)
        if is_meant(below, item):
            if item not in (None, ""):
                yield below, item
        else:
            yield from _found(item, below, is_meant)


def _replaced(value: Any, path: _Path, is_meant: _IsMeant, replace: Callable[[_Path, Any], Any]) -> Any:
    """Return a copy with another value in place of each that is meant and set."""

    def below(key: str | int, item: Any) -> Any:
        inner = (*path, key)
        if is_meant(inner, item):
            return item if item in (None, "") else replace(inner, item)
        return _replaced(item, inner, is_meant, replace)

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


def _text(path: _Path) -> str:
    return ".".join(["config", *map(str, path)])

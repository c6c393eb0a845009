"""Request parameters: decoded once and strictly, into text by name."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from django.http import HttpRequest

MOST_BYTES: Final = 1024 * 1024  # cheap to read: few fields, each of a bounded length
_MOST_FIELDS: Final = 100
_LONGEST_VALUE: Final = 16_384
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_FORM: Final = "application/x-www-form-urlencoded"


class InvalidParameters(Exception):
    """The parameters cannot be decoded. Has an HTTP status and a sentence for developers."""

    def __init__(self, description: str, status: int = 400) -> None:
        self.description = description
        self.status = status
        super().__init__(description)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a request: the first value of each name, and the names that were repeated."""

    values: dict[str, str]
    repeated: frozenset[str]

    def __getitem__(self, name: str) -> str:
        """Return a value, or an empty string if it was not sent."""
        return self.values.get(name, "")

    def only(self, names: frozenset[str]) -> list[tuple[str, str]]:
        """Return the pairs of these names, without unknown parameters."""
        return [(name, value) for name, value in self.values.items() if name in names]


def decode(text: str) -> Parameters:
    """Decode a query or form.

    Raises:
        InvalidParameters: it is not UTF-8, holds a NUL, or has too many or too long values.

    """
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except UnicodeDecodeError:
        raise InvalidParameters("The parameters are not valid UTF-8.") from None
    except ValueError:
        raise InvalidParameters(f"There are more than {_MOST_FIELDS} parameters.") from None
    values: dict[str, str] = {}
    repeated = set()
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            raise InvalidParameters("A parameter holds a NUL character.")
        if len(value) > _LONGEST_VALUE:
            raise InvalidParameters(f"{_called(name)} is too long.")
        if name in values:
            repeated.add(name)
        values.setdefault(name, value)
    return Parameters(values, frozenset(repeated))


def _called(name: str) -> str:
    """Return a parameter's name for an error message, which also goes into headers."""
    return f"The parameter {name}" if _NAME.fullmatch(name) else "A parameter"


def without_longest(text: str, limit: int) -> tuple[str, str]:
    """Return a query without its longest parameter, and that parameter's name.

    Raises:
        InvalidParameters: the rest of it is longer than the limit.

    """
    pairs = text.split("&")
    longest = max(range(len(pairs)), key=lambda place: len(pairs[place]))
    name = pairs.pop(longest).partition("=")[0]
    rest = "&".join(pairs)
    if len(rest) > limit:
        raise InvalidParameters("The request is too long.")
    return rest, name


def form_text(request: HttpRequest) -> str:
    """Return the undecoded form of a POST.

    Raises:
        InvalidParameters: 415 for another content type, 413 beyond 1 MiB, 400 if the body is not UTF-8.

    """
    if request.content_type != _FORM:
        raise InvalidParameters(f"The content type must be {_FORM}.", 415)
    if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
        raise InvalidParameters("The body is larger than 1 MiB.", 413)
    try:
        return request.body.decode()
    except UnicodeDecodeError:
        raise InvalidParameters("The parameters are not valid UTF-8.") from None


def form(request: HttpRequest) -> Parameters:
    """Decode the form of a POST, in which no parameter may be repeated.

    Raises:
        InvalidParameters: see ``form_text`` and ``decode``; also when a parameter is repeated.

    """
    sent = decode(form_text(request))
    if sent.repeated:
        # RFC 6749 section 3.2: parameters MUST NOT be included more than once.
        raise InvalidParameters(f"{_called(min(sent.repeated))} was sent more than once.")
    return sent

"""Strict decoding of request parameters."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from django.http import HttpRequest, UnreadablePostError

from identity.http import bodies
from oidc.keys import jws

FORM_TYPE: Final = "application/x-www-form-urlencoded"
MOST_BYTES: Final = 1024 * 1024
_MOST_FIELDS: Final = 100
LONGEST: Final = 16_384  # characters of a value, and of the query of an authorization request
LONGEST_NONCE: Final = 1024  # characters
_TOKENS: Final = frozenset(("token", "access_token", "id_token_hint"))  # the values may be longer
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class InvalidParameters(Exception):
    """The parameters cannot be decoded. ``description`` is for developers."""

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

    def select(self, names: frozenset[str]) -> list[tuple[str, str]]:
        """Return the names and values of the parameters with these names."""
        return [(name, value) for name, value in self.values.items() if name in names]


def decode(text: str) -> Parameters:
    """Decode a query or form.

    Raises:
        InvalidParameters: it is not UTF-8, contains NUL, or has too many or too long values.

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
            raise InvalidParameters(f"{describe(name)} contains a NUL character.")
        longest = jws.LONGEST if name in _TOKENS else LONGEST
        if len(value) > longest:
            raise InvalidParameters(f"{describe(name)} has more than {longest} characters.")
        if name in values:
            repeated.add(name)
        values.setdefault(name, value)
    return Parameters(values, frozenset(repeated))


def describe(name: str) -> str:
    """Return a parameter as the subject of an error message that is safe in a header."""
    return f"The parameter {name}" if _NAME.fullmatch(name) else "A parameter"


def without_longest(text: str, limit: int) -> tuple[str, str]:
    """Return a query without its longest parameter, and the name of that parameter.

    Raises:
        InvalidParameters: the remaining query is longer than the limit.

    """
    pairs = text.split("&")
    longest = max(range(len(pairs)), key=lambda index: len(pairs[index]))
    name = pairs.pop(longest).partition("=")[0]
    remaining = "&".join(pairs)
    if len(remaining) > limit:
        raise InvalidParameters(f"The parameters have more than {limit} characters.")
    return remaining, name


def form_text(request: HttpRequest) -> str:
    """Return the form of a POST, undecoded.

    Raises:
        InvalidParameters: the content type is not a form's; or the body is larger than 1 MiB, not UTF-8 or
            incomplete.

    """
    if request.content_type != FORM_TYPE:
        raise InvalidParameters(f"The content type must be {FORM_TYPE}.", 415)
    length = bodies.get_length(request.META)
    if length is None or length > MOST_BYTES:
        raise InvalidParameters("The body is larger than 1 MiB.", 413)
    try:
        return request.body.decode()
    except UnreadablePostError:  # the client has disconnected, or is too slow
        raise InvalidParameters("The body is incomplete.") from None
    except UnicodeDecodeError:
        raise InvalidParameters("The parameters are not valid UTF-8.") from None


def form(request: HttpRequest) -> Parameters:
    """Decode the form of a POST, in which no parameter may be repeated.

    Raises:
        InvalidParameters: the form cannot be decoded, or a parameter is repeated.

    """
    parameters = decode(form_text(request))
    if parameters.repeated:
        # RFC 6749 section 3.2: parameters MUST NOT be included more than once.
        raise InvalidParameters(f"{describe(min(parameters.repeated))} was sent more than once.")
    return parameters

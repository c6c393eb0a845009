"""The base classes of errors that services raise for callers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, Final

from django.utils.translation import gettext_noop

INVALID: Final = "invalid"


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field of a request.

    ``field`` is its path in the body or the name of the query parameter, ``code`` a word for programs that
    docs/reference/errors.md lists, and ``allowed`` the possible values if there are few.
    """

    field: str
    rule: str
    code: str = INVALID
    allowed: Sequence[str] = ()


class ServiceError(Exception):
    """An error that the caller can understand and correct.

    A subclass is defined beside the function that raises it. It has a ``message`` (one sentence for people),
    an HTTP ``status`` and a ``reason`` in snake case for programs and audit entries. The response also
    contains the error's ``headers`` and ``result``, and in the management API its ``field_errors``, which
    the operators' site shows at the fields of a form. The audit entry of the failure has its
    ``audit_facts``. The message is English everywhere. If a form of the operators' site can cause the error,
    the message is marked with ``gettext_noop``, or comes from ``refusal_texts.fill`` if it has values, and
    the site translates it.
    """

    status: ClassVar[int] = 400
    reason: ClassVar[str] = "refused"
    message: str = gettext_noop("the request was refused")
    headers: dict[str, str]
    result: object = ""
    field_errors: Sequence[FieldError] = ()
    audit_facts: Mapping[str, str] = MappingProxyType({})

    def __init__(self, message: str | None = None, *, headers: dict[str, str] | None = None) -> None:
        if message is not None:
            self.message = message
        self.headers = headers or {}
        super().__init__(self.message)


class Invalid(ServiceError):
    """A value is invalid. The message names the field and the rule."""

    reason = "invalid"

    def __init__(self, field: str, rule: str, *, code: str = INVALID, allowed: Sequence[str] = ()) -> None:
        self.field = field
        self.rule = rule
        self.field_errors = (FieldError(field, rule, code, allowed),)
        super().__init__(f"{field}: {rule}")

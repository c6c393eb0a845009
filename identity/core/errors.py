"""The base classes of errors that services raise for callers."""

from typing import ClassVar


class ServiceError(Exception):
    """An error that the caller can understand and correct.

    A subclass is defined beside the function that raises it. It has a ``message`` (one sentence for people),
    an HTTP ``status`` and a ``reason`` in snake case for programs and audit entries. The response also
    contains the error's ``headers`` and ``result``.
    """

    status: ClassVar[int] = 400
    reason: ClassVar[str] = "refused"
    message: str = "the request was refused"
    headers: dict[str, str]
    result: object = ""

    def __init__(self, message: str | None = None, *, headers: dict[str, str] | None = None) -> None:
        if message is not None:
            self.message = message
        self.headers = headers or {}
        super().__init__(self.message)


class Invalid(ServiceError):
    """A value is invalid. The message names the field and the rule."""

    reason = "invalid"

    def __init__(self, field: str, rule: str) -> None:
        self.field = field
        self.rule = rule
        super().__init__(f"{field}: {rule}")

"""What a domain raises when it refuses."""

from typing import ClassVar


class ServiceError(Exception):
    """A refusal that the caller can understand and act upon.

    A subclass stands beside the function that raises it and says what happened
    (``message``, one sentence for people), how (``status``, an HTTP status) and what
    for programs (``reason``, a word in snake case, which audit entries keep).
    ``headers`` go out with the answer, and so does ``result``, where a refusal has one.
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
    """A value breaks a rule; the message names the field and the rule."""

    reason = "invalid"

    def __init__(self, field: str, rule: str) -> None:
        self.field = field
        self.rule = rule
        super().__init__(f"{field}: {rule}")

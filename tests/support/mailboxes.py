"""Mailboxes that keep messages in place of a sender."""

from interaction.connectors.messages import Message


class Mailboxes:
    """What was sent, in place of messages that wait for a sender."""

    def __init__(self) -> None:
        self.sent: list[Message] = []

    def post(self, message: Message, *, silent: bool = False) -> None:
        if not silent:
            self.sent.append(message)

    def newest(self, to: str) -> str:
        return next((one.code for one in reversed(self.sent) if one.to == to and one.code), "")

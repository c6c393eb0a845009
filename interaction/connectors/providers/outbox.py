"""Connectors that write messages to files instead of sending them, for development and tests."""

import os
from datetime import UTC, datetime
from pathlib import Path

import orjson
from django.conf import settings
from django.utils.translation import gettext_noop

from identity.rest.fields import timestamp
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message
from interaction.connectors.providers.base import Config, Field, Type
from interaction.connectors.providers.guide import Guide


class OutboxEmail:
    """Writes each email to a JSON file in ``OUTBOX_DIR``."""

    connector_id = "outbox-email"
    name = "Outbox (email)"
    type = Type.EMAIL
    fields: tuple[Field, ...] = ()
    guide = Guide(steps=(gettext_noop("Messages become files in `OUTBOX_DIR`. Nothing is sent."),))

    def send(self, config: Config, message: Message) -> None:
        """Write the message to a file.

        Raises:
            ProviderError: the directory cannot be written to.

        """
        try:
            _write(settings.OUTBOX_DIR, message)
        except OSError:
            raise ProviderError(gettext_noop("OUTBOX_DIR cannot be written to")) from None


class OutboxSms(OutboxEmail):
    """Writes each text message to a JSON file in ``OUTBOX_DIR``."""

    connector_id = "outbox-sms"
    name = "Outbox (SMS)"
    type = Type.SMS


def _write(directory: Path, message: Message) -> None:
    """Write a file atomically. Only its owner can read it."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = directory / f".{message.id}.tmp"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(
            orjson.dumps(
                {
                    "id": message.id,
                    "channel": message.channel,
                    "to": message.to,
                    "interaction_type": message.interaction_type,
                    "code": message.code,
                    "subject": message.subject,
                    "body": message.body,
                    "sent_at": timestamp(datetime.now(UTC)),
                },
                option=orjson.OPT_INDENT_2,
            )
        )
    unfinished.replace(directory / f"{message.id}.json")

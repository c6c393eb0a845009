"""The built-in texts of messages, with the placeholders of templates in place of the values."""

from dataclasses import replace
from typing import Final

from django.conf import settings
from django.utils import translation

from identity.users.notices import Notice
from interaction.experience import built_in_messages, message_templates
from interaction.experience.forms import MessageKey
from interaction.experience.models import SignInExperience
from interaction.journeys import message_branding
from interaction.verification import notice_texts, texts
from interaction.verification.models import Purpose

# ``remaining`` and ``account`` are left out: their sentence would be in messages for which both are empty.
_WORDS: Final = {name: f"{{{name}}}" for name in ("provider", "left", *notice_texts.ORIGIN)}


def build(key: MessageKey, row: SignInExperience) -> dict[str, str]:
    """Return subject, text and HTML of a message in the language of its template."""
    brand = replace(message_branding.get_brand(row), name="{name}")
    with translation.override(key.language or settings.LANGUAGE_CODE):
        if key.purpose in message_templates.CODES:
            message = texts.new_code_message(
                pk="", purpose=Purpose(key.purpose), channel=key.channel, to="", code="{code}", brand=brand
            )
        else:
            message = notice_texts.new_notice_message(
                notice=Notice(key.purpose), channel=key.channel, to="", words=_WORDS, brand=brand
            )
    return {"subject": message.subject, "text": message.body, "html": message.html}


built_in_messages.register(build)

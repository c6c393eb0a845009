"""The texts of messages with codes, with the tenant's name and branding."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, get_language_bidi, gettext_lazy
from django.utils.translation import gettext as _

from interaction.connectors.messages import EMAIL, Message
from interaction.verification.models import Purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class Brand:
    """A tenant's name and branding; colours as ``#rrggbb`` or empty."""

    name: str
    colour: str = ""
    on_colour: str = ""
    logo_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTemplate:
    """A tenant's template for a message, with placeholders such as ``{code}`` and ``{name}``."""

    text: str
    subject: str = ""
    html: str = ""

    def fill(self, values: dict[str, str]) -> dict[str, str]:
        """Return subject, body and HTML with the values inserted, escaped in the HTML."""
        escaped = {name: escape(text) for name, text in values.items()}
        return {
            "subject": _fill(self.subject, values),
            "body": _fill(self.text, values),
            "html": _fill(self.html, escaped),
        }


_FULL_STOPS: Final = (".", "。", "…")
_NAME_AND_STOP: Final = re.compile(r"(%\(name\)s)[.。]")
_PLACEHOLDER: Final = re.compile(r"\{([a-z]+)\}")
_SUBJECTS: Final[dict[Purpose, Promise]] = {
    Purpose.SIGN_IN: gettext_lazy("Your code to sign in to %(name)s"),
    Purpose.REGISTER: gettext_lazy("Your code to create an account at %(name)s"),
    Purpose.FORGOT_PASSWORD: gettext_lazy("Your code for a new password at %(name)s"),
    Purpose.SECOND_FACTOR: gettext_lazy("Your second code to sign in to %(name)s"),
    Purpose.CHANGE: gettext_lazy("Your code to confirm this address at %(name)s"),
}
_SMS: Final[dict[Purpose, Promise]] = {
    Purpose.SIGN_IN: gettext_lazy("%(code)s is your code to sign in to %(name)s."),
    Purpose.REGISTER: gettext_lazy("%(code)s is your code to create an account at %(name)s."),
    Purpose.FORGOT_PASSWORD: gettext_lazy("%(code)s is your code for a new password at %(name)s."),
    Purpose.SECOND_FACTOR: gettext_lazy("%(code)s is your second code to sign in to %(name)s."),
    Purpose.CHANGE: gettext_lazy("%(code)s is your code to confirm this number at %(name)s."),
}


def new_code_message(  # noqa: PLR0913 - the parts of a message
    *,
    pk: str,
    purpose: Purpose,
    channel: str,
    to: str,
    code: str,
    brand: Brand,
    template: MessageTemplate | None = None,
) -> Message:
    """Return a message with a code: from the tenant's template, else in the active language."""
    values = {"code": code, "name": brand.name}
    if template is not None:
        return Message(
            id=pk, channel=channel, to=to, interaction_type=purpose, code=code, **template.fill(values)
        )
    advice = _("It expires in 5 minutes and works once. Don't share it with anyone.")
    if channel != EMAIL:
        body = f"{fill_in(_SMS[purpose], values)} {advice}"
        return Message(id=pk, channel=channel, to=to, interaction_type=purpose, code=code, body=body)
    subject = str(_SUBJECTS[purpose] % values)
    # Below the code: a mail program shows the subject above the first line.
    purpose_line = end_sentence(subject)
    ignore = _("If you didn't ask for this code, ignore this message. Nothing happens without the code.")
    html = render_to_string(
        "messages/code.html",
        {
            "subject": subject,
            "code": code,
            "advice": f"{purpose_line} {advice}",
            "ignore": ignore,
            "brand": brand,
            "language": get_language() or "en",
            "direction": "rtl" if get_language_bidi() else "ltr",
        },
    )
    return Message(
        id=pk,
        channel=channel,
        to=to,
        interaction_type=purpose,
        code=code,
        subject=subject,
        body=f"    {code}\n\n{purpose_line} {advice}\n\n{ignore}\n\n-- \n{brand.name}\n",
        html=html,
    )


def fill_in(sentence: Promise, values: Mapping[str, str]) -> str:
    """Return a sentence with its values. A name that ends in a full stop ends the sentence too."""
    text = str(sentence)
    if values["name"].endswith(_FULL_STOPS):
        text = _NAME_AND_STOP.sub(r"\1", text)
    return text % values


def end_sentence(text: str) -> str:
    """Return a text with the full stop of the active language at its end, unless it has one."""
    return text if text.endswith(_FULL_STOPS) else _("%(sentence)s.") % {"sentence": text}


def _fill(template: str, values: dict[str, str]) -> str:
    """Return a template with its placeholders replaced. Placeholders in a value are not replaced."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), template)

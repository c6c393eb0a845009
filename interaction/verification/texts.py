"""What messages say: the sentences of each purpose, with the tenant's name and look."""

import re
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
    """What a tenant is called and looks like; colours as ``#rrggbb`` or empty."""

    name: str
    colour: str = ""
    on_colour: str = ""
    logo_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a message says in a tenant's own words, with ``{code}``, ``{name}`` and the like in them."""

    text: str
    subject: str = ""
    html: str = ""

    def filled(self, words: dict[str, str]) -> dict[str, str]:
        """Return subject, body and HTML with the words filled in; in HTML they are escaped."""
        safe = {name: escape(text) for name, text in words.items()}
        return {
            "subject": _filled(self.subject, words),
            "body": _filled(self.text, words),
            "html": _filled(self.html, safe),
        }


_PLACEHOLDER: Final = re.compile(r"\{([a-z]+)\}")
_SUBJECTS: Final[dict[Purpose, Promise]] = {
    Purpose.SIGN_IN: gettext_lazy("Your code to sign in to %(name)s"),
    Purpose.REGISTER: gettext_lazy("Your code to create an account at %(name)s"),
    Purpose.FORGOT_PASSWORD: gettext_lazy("Your code for a new password at %(name)s"),
    Purpose.CHANGE: gettext_lazy("Your code to confirm this address at %(name)s"),
}
_SMS: Final[dict[Purpose, Promise]] = {
    Purpose.SIGN_IN: gettext_lazy("%(code)s is your code to sign in to %(name)s."),
    Purpose.REGISTER: gettext_lazy("%(code)s is your code to create an account at %(name)s."),
    Purpose.FORGOT_PASSWORD: gettext_lazy("%(code)s is your code for a new password at %(name)s."),
    Purpose.CHANGE: gettext_lazy("%(code)s is your code to confirm this number at %(name)s."),
}


def code_message(  # noqa: PLR0913 - the parts of a message
    *,
    pk: str,
    purpose: Purpose,
    channel: str,
    to: str,
    code: str,
    brand: Brand,
    wording: Wording | None = None,
) -> Message:
    """Return the message that carries a code: in the tenant's words, else in ours of this language."""
    words = {"code": code, "name": brand.name}
    if wording is not None:
        return Message(
            id=pk, channel=channel, to=to, interaction_type=purpose, code=code, **wording.filled(words)
        )
    advice = _("It is good for 5 minutes and works once. Tell it to nobody.")
    if channel != EMAIL:
        body = f"{_SMS[purpose] % words} {advice}"
        return Message(id=pk, channel=channel, to=to, interaction_type=purpose, code=code, body=body)
    subject = str(_SUBJECTS[purpose] % words)
    ignore = _("If you did not ask for it, ignore this message: nothing happens without the code.")
    html = render_to_string(
        "messages/code.html",
        {
            "subject": subject,
            "code": code,
            "advice": advice,
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
        body=f"{subject}:\n\n    {code}\n\n{advice}\n\n{ignore}\n\n-- \n{brand.name}\n",
        html=html,
    )


def _filled(template: str, words: dict[str, str]) -> str:
    """Fill in what stands in braces, once: a name that holds braces stays as it is."""
    return _PLACEHOLDER.sub(lambda found: words.get(found[1], found[0]), template)

"""The texts of notices. A new kind of notice is one entry of ``_TEXTS``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, get_language_bidi, gettext_lazy
from django.utils.translation import gettext as _

from identity.users.notices import Notice
from interaction.connectors.messages import EMAIL, Message
from interaction.verification.texts import Brand, MessageTemplate, end_sentence, fill_in

# When and where it was done: variables of each notice, and placeholders of its templates.
ORIGIN: Final = ("time", "browser", "address")


@dataclass(frozen=True, slots=True)
class Text:
    """The subject of a notice, which is also the first sentence of its text message, and what follows."""

    subject: Promise
    detail: Promise | None = None


_TEXTS: Final = {
    Notice.IDENTIFIER_REMOVED: Text(
        gettext_lazy("An address was removed from your account at %(name)s"),
        gettext_lazy(
            "Somebody else proved that an email address or phone number in your account belongs to them. "
            "It is no longer part of your account."
        ),
    ),
    Notice.PASSWORD_CHANGED: Text(gettext_lazy("Your password at %(name)s was changed")),
    Notice.ACCOUNT_LINKED: Text(
        gettext_lazy("An account at %(provider)s was linked to your account at %(name)s"),
        gettext_lazy("The linked account can be used to sign in."),
    ),
    Notice.ACCOUNT_UNLINKED: Text(
        gettext_lazy("An account at %(provider)s was unlinked from your account at %(name)s"),
        gettext_lazy("The unlinked account can no longer be used to sign in."),
    ),
    Notice.EMAIL_CHANGED: Text(gettext_lazy("Your email address at %(name)s was changed")),
    Notice.PHONE_CHANGED: Text(gettext_lazy("Your phone number at %(name)s was changed")),
    Notice.FACTOR_ADDED: Text(
        gettext_lazy("A way to confirm sign-ins was added to your account at %(name)s"),
        gettext_lazy("The new way is asked for after the first step of a sign-in."),
    ),
    Notice.FACTOR_REMOVED: Text(
        gettext_lazy("A way to confirm sign-ins was removed from your account at %(name)s")
    ),
    Notice.FACTORS_RESET: Text(
        gettext_lazy("Two-step sign-in was reset for your account at %(name)s"),
        gettext_lazy("The people who run the service removed all ways to confirm sign-ins."),
    ),
    Notice.BACKUP_CODES_MADE: Text(
        gettext_lazy("New backup codes were created for your account at %(name)s"),
        gettext_lazy("Earlier backup codes no longer work."),
    ),
    Notice.BACKUP_CODE_USED: Text(
        gettext_lazy("A backup code was used to sign in to your account at %(name)s"),
        gettext_lazy("Unused codes left: %(left)s. Create new ones on your account page before you run out."),
    ),
    Notice.PASSKEY_ANOMALY: Text(
        gettext_lazy("A passkey of your account at %(name)s was refused"),
        gettext_lazy(
            "Somebody may have copied the passkey. Remove it on your account page, and create a new one."
        ),
    ),
    Notice.RECOVERY_CODE_MADE: Text(
        gettext_lazy("A recovery code was created for your account at %(name)s"),
        gettext_lazy("The people who run the service give the code to you. Nobody else needs it."),
    ),
    Notice.RECOVERY_CODE_USED: Text(
        gettext_lazy("A recovery code was used to sign in to your account at %(name)s"),
    ),
    Notice.NEW_SIGN_IN: Text(
        gettext_lazy("New sign-in to your account at %(name)s"),
        gettext_lazy(
            "Somebody signed in with a browser that is new to your account. If it wasn't you, change your "
            "password and sign out your other devices on your account page."
        ),
    ),
    Notice.FACTOR_LOCKED: Text(
        gettext_lazy("Too many wrong codes were entered for your account at %(name)s"),
        gettext_lazy("Somebody may know your password. Choose a new one."),
    ),
}

_REMAINING: Final = gettext_lazy(
    "These can still be used to sign in: %(remaining)s. Go to your account page, %(account)s, and remove "
    "what isn't yours."
)


def new_notice_message(  # noqa: PLR0913 - the parts of a message
    *,
    notice: Notice,
    channel: str,
    to: str,
    words: Mapping[str, str],
    brand: Brand,
    template: MessageTemplate | None = None,
) -> Message:
    """Return a notice: from the tenant's template, else in the active language."""
    values = {
        "provider": "",
        "left": "",
        "remaining": "",
        "account": "",
        **dict.fromkeys(ORIGIN, ""),
        **{name: _one_line(text) for name, text in words.items()},
        "name": brand.name,
    }
    if template is not None:
        return Message(channel=channel, to=to, interaction_type=notice, code="", **template.fill(values))
    subject = str(_TEXTS[notice].subject % values)
    detail = _TEXTS[notice].detail
    facts = _describe_origin(values)
    advice = _("If this wasn't you, contact the people who run the service right away.")
    details = [fill_in(detail, values)] if detail else []
    if values["remaining"]:
        details.append(_REMAINING % values)
    if channel != EMAIL:
        facts = [f"{', '.join(values[name] for name in ORIGIN if values[name])}."] if facts else []
        text = " ".join([end_sentence(subject), *details, *facts, advice])
        return Message(channel=channel, to=to, interaction_type=notice, code="", body=text)
    html = render_to_string(
        "messages/notice.html",
        {
            "subject": subject,
            "details": details,
            "facts": facts,
            "advice": advice,
            "brand": brand,
            "language": get_language() or "en",
            "direction": "rtl" if get_language_bidi() else "ltr",
        },
    )
    parts = [*details, *(["\n".join(facts)] if facts else []), advice]
    body = "\n\n".join([*parts, f"-- \n{brand.name}\n"])
    return Message(
        channel=channel, to=to, interaction_type=notice, code="", subject=subject, body=body, html=html
    )


def _describe_origin(values: Mapping[str, str]) -> list[str]:
    """Return when and where the user's account was changed or used, as far as it is known."""
    lines = {
        "time": _("Time: %(time)s"),
        "browser": _("Browser: %(browser)s"),
        "address": _("Network address: %(address)s"),
    }
    return [lines[name] % {name: _isolate(values[name])} for name in ORIGIN if values[name]]


def _isolate(text: str) -> str:
    """Return a text whose numbers and Latin letters keep their order between those of Arabic (UAX #9)."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}" if get_language_bidi() else text


def _one_line(text: str) -> str:
    """Return a text without line breaks and other characters that a subject must not contain."""
    return "".join(character for character in text if character.isprintable())

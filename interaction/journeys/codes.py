"""Proving an email or a phone with a code: the step that several journeys begin with."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.urls import reverse

from identity.core.errors import Invalid, ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.services import LoginAttempt
from identity.sessions.known_users import NO_KNOWN_USERS, KnownUsers
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors import captcha, delivery
from interaction.connectors.messages import Message
from interaction.experience import services as experience
from interaction.experience import sms_countries
from interaction.experience.models import SignInExperience
from interaction.journeys import message_look
from interaction.journeys.pending import Pending
from interaction.verification import recipients, texts, wrong_codes
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode

# The page that goes on where a code was entered that signs nobody in.
_NEXT: Final = {Purpose.REGISTER: "pages:register", Purpose.FORGOT_PASSWORD: "pages:forgot-password"}


class CodesOff(ServiceError):
    """The tenant does not let codes for this purpose go to this kind of identifier."""

    reason = "method_off"

    def __init__(self, purpose: Purpose, kind: Kind) -> None:
        does = purpose.value.replace("_", " ")
        super().__init__(f"identifier_type: codes by {kind} are switched off for {does}")


def offered(shown: SignInExperience) -> dict[Purpose, list[Kind]]:
    """Return where codes may go for each purpose: the tenant wants it, and a message can be delivered."""
    channels = delivery.channels()
    reached = [kind for kind in (Kind.EMAIL, Kind.PHONE) if recipients.channel_of(kind) in channels]
    return {purpose: [kind for kind in reached if _is_on(purpose, kind, shown)] for purpose in Purpose}


def send(  # noqa: PLR0913 - what a code is bound to, and who asks for it
    *,
    purpose: Purpose,
    kind: Kind,
    identifier: str,
    browser: str,
    known: KnownUsers = NO_KNOWN_USERS,
    captcha_token: str = "",
) -> int:
    """Send a code and return how many seconds it is good for.

    ``browser`` is the hash of the browser's cookie: a new one has to be given it first. ``known`` are the
    people whom the browser signed in before. Where the tenant asks for a CAPTCHA, ``captcha_token`` says
    that it was solved; people who are signed in are asked for none.

    Raises:
        CodesOff: the tenant does not use codes for this.
        delivery.NoConnector: nothing can be sent to this kind of identifier.
        captcha.Unavailable: nobody says whether the CAPTCHA was solved.
        Invalid: the CAPTCHA was not solved; or the identifier is none of this kind, or of a country that
            the tenant sends nothing to.
        verification.SentTooOften: one was sent a moment ago.
        limits.TooMany: too many from this address.

    """
    shown = experience.current()
    _check(purpose, kind, shown)
    if kind is Kind.PHONE:
        sms_countries.check(recipients.address_of(kind, identifier), shown.sms_countries)
    limits.hit_by_address(rules.CODE_SENDS)
    if purpose is not Purpose.CHANGE:
        captcha.check(captcha_token)
    return verification.send(
        purpose=purpose,
        kind=kind,
        identifier=identifier,
        browser=browser,
        brand=message_look.brand(shown),
        wording=message_look.wording(shown, purpose, recipients.channel_of(kind)),
        device=_device(known, kind, recipients.key_of(kind, identifier)),
    )


def _device(known: KnownUsers, kind: Kind, key: str) -> str:
    """Return the device under which the browser knows who has proven an identifier, or nothing.

    Whoever signed in to an account that only named the address has no codes beyond the ceiling.
    """
    device = known.find_device(kind, key)
    user = User.objects.filter(**{f"{kind}_key": key}).first() if device else None
    is_known = user is not None and user.has_proven(kind) and known.is_current(device, user)
    return device if is_known else ""


def sample(*, purpose: Purpose, kind: Kind, shown: SignInExperience) -> Message:
    """Return what ``send`` would say with an experience, which need not be saved; its code is made up."""
    return texts.new_code_message(
        pk="",
        purpose=purpose,
        channel=recipients.channel_of(kind),
        to="",
        code="123456",
        brand=message_look.brand(shown),
        wording=message_look.wording(shown, purpose, recipients.channel_of(kind)),
    )


def verify(*, purpose: Purpose, kind: Kind, identifier: str, code: str, browser: str) -> VerificationCode:
    """Use a code up that signs nobody in, and return the proof for the next step.

    Raises:
        CodesOff: the tenant does not use codes for this.
        verification.WrongCode: not the code that was sent to this identifier for this, or no longer.
        limits.TooMany: too many from this address.

    """
    _check(purpose, kind, experience.current())
    with guess_code():
        return verification.verify(
            purpose=purpose, kind=kind, identifier=identifier, code=code, browser=browser
        )


@contextmanager
def guess_code() -> Iterator[LoginAttempt]:
    """Enter a code in the block: a wrong one counts for the network, which has so many of them.

    Raises:
        limits.TooMany: there were too many wrong ones, or too many sign-ins, from this address.

    """
    with limits.login_attempt(
        (rules.WRONG_CODES, limits.client_network()),
        failure=verification.WrongCode,
        locked=limits.TooMany,
        within=rules.SIGN_INS,
    ) as attempt:
        yield attempt


def are_long(kind: Kind, identifier: str) -> bool:
    """Tell whether codes for an identifier have letters at this moment."""
    return wrong_codes.has_long_codes(kind, recipients.key_of(kind, identifier))


def next_page(purpose: Purpose, pending: Pending | None) -> str:
    """Return where a browser goes on after ``verify``."""
    waiting = f"?interaction={pending.parked.pk}" if pending else ""
    return f"{reverse(_NEXT[purpose])}{waiting}"


def _check(purpose: Purpose, kind: Kind, shown: SignInExperience) -> None:
    if kind is Kind.USERNAME:
        raise Invalid("identifier_type", "must be email or phone")
    if not _is_on(purpose, kind, shown):
        raise CodesOff(purpose, kind)


def _is_on(purpose: Purpose, kind: Kind, shown: SignInExperience) -> bool:
    if purpose is Purpose.SIGN_IN:
        return shown.can_use_code(kind)
    if purpose is Purpose.REGISTER:
        return kind in shown.sign_up["identifiers"]
    if purpose is Purpose.FORGOT_PASSWORD:
        # Whoever can sign in with it, in whatever way, may choose a new password by it.
        return shown.can_use_code(kind) or shown.can_use_password(kind)
    return True

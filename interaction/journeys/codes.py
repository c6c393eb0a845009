"""Verifying an email or phone with a code: a step of several journeys."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from identity.core.errors import Invalid, ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.services import LoginAttempt
from identity.sessions.known_users import NO_KNOWN_USERS, KnownUsers
from identity.sessions.proof_secrets import ProofSecret
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors import captcha, delivery
from interaction.connectors.messages import Message
from interaction.experience import services as experiences
from interaction.experience import sms_countries
from interaction.experience.models import SignInExperience
from interaction.journeys import message_branding
from interaction.journeys.pending import Pending, page_url
from interaction.verification import recipients, texts, wrong_codes
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode

# The authentication methods (RFC 8176) of a code as the first factor.
METHODS: Final = {Kind.EMAIL: ["otp"], Kind.PHONE: ["otp", "sms"]}
# The page after a code that does not sign the user in.
_NEXT_PAGES: Final = {Purpose.REGISTER: "pages:register", Purpose.FORGOT_PASSWORD: "pages:forgot-password"}


class CodesOff(ServiceError):
    """The tenant does not use codes for this purpose and kind of identifier."""

    reason = "method_off"

    def __init__(self, purpose: Purpose, kind: Kind) -> None:
        action = purpose.value.replace("_", " ")
        super().__init__(f"identifier_type: codes by {kind} are switched off for {action}")


def get_offered_kinds(experience: SignInExperience) -> dict[Purpose, list[Kind]]:
    """Return for each purpose the enabled kinds of identifier for which there is a connector."""
    channels = delivery.channels()
    reachable = [
        kind
        for kind in experience.kinds
        if kind is not Kind.USERNAME and recipients.channel_of(kind) in channels
    ]
    return {
        purpose: [kind for kind in reachable if _is_enabled(purpose, kind, experience)] for purpose in Purpose
    }


def send(  # noqa: PLR0913 - what a code is bound to, and the browser
    *,
    purpose: Purpose,
    kind: Kind,
    identifier: str,
    browser: str,
    known: KnownUsers = NO_KNOWN_USERS,
    owner: User | None = None,
    captcha_token: str = "",
) -> int:
    """Send a code and return how many seconds it is valid.

    ``browser`` is the hash of the browser's cookie. ``known`` are the users whom the browser signed in
    before. ``owner`` is the user who has the identifier, if it was read. If the tenant has a CAPTCHA,
    ``captcha_token`` proves that it was solved; signed-in users need not solve it.

    Raises:
        CodesOff: the tenant does not use codes for this purpose and kind.
        delivery.NoConnector: no connector can send to this kind of identifier.
        captcha.Unavailable: the CAPTCHA's provider does not answer.
        Invalid: the CAPTCHA is not solved, or the identifier is not valid, or its country is not allowed.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this network.

    """
    experience = experiences.current()
    _check(purpose, kind, experience)
    if kind is Kind.PHONE:
        sms_countries.check(recipients.address_of(kind, identifier), experience.sms_countries)
    limits.hit_by_network(rules.CODE_SENDS)
    if purpose not in {Purpose.CHANGE, Purpose.SECOND_FACTOR}:
        captcha.check(captcha_token)
    return verification.send(
        purpose=purpose,
        kind=kind,
        identifier=identifier,
        browser=browser,
        brand=message_branding.get_brand(experience),
        template=message_branding.find_template(experience, purpose, recipients.channel_of(kind)),
        device=_find_device(known, kind, recipients.key_of(kind, identifier), owner),
    )


def _find_device(known: KnownUsers, kind: Kind, key: str, owner: User | None) -> str:
    """Return the browser's device id for the user who has proven an identifier, or an empty string.

    An address that the user has not proven gives no exemption from the limit of codes. One that the user has
    proven since the browser signed the user in gives it, too.
    """
    if not known.marks:
        return ""
    user = owner or User.objects.find_by_key(kind, key).first()
    return known.find_device_of(user) if user is not None and user.has_proven(kind) else ""


def build_sample(*, purpose: Purpose, kind: Kind, experience: SignInExperience) -> Message:
    """Return the message of ``send`` with a sample code, for an experience that need not be saved."""
    return texts.new_code_message(
        pk="",
        purpose=purpose,
        channel=recipients.channel_of(kind),
        to="",
        code="123456",
        brand=message_branding.get_brand(experience),
        template=message_branding.find_template(experience, purpose, recipients.channel_of(kind)),
    )


def verify(  # noqa: PLR0913 - what a code is bound to, and its proof
    *,
    purpose: Purpose,
    kind: Kind,
    identifier: str,
    code: str,
    browser: str,
    secret: ProofSecret | None = None,
) -> VerificationCode:
    """Redeem a code that does not sign the user in, and return the proof for the next step.

    If that step is a later request, the browser needs the new ``secret`` for it.

    Raises:
        CodesOff: the tenant does not use codes for this purpose and kind.
        verification.WrongCode: the code is wrong or has expired.
        limits.TooMany: too many from this network.

    """
    _check(purpose, kind, experiences.current())
    with code_attempt():
        return verification.verify(
            purpose=purpose,
            kind=kind,
            identifier=identifier,
            code=code,
            browser=browser,
            secret_hash=secret.hash if secret else None,
        )


@contextmanager
def code_attempt() -> Iterator[LoginAttempt]:
    """Verify a code in the block; a wrong one counts against the limit of the client's network.

    Raises:
        limits.TooMany: too many wrong codes, or too many sign-ins, from this network.

    """
    with limits.login_attempt(
        (rules.WRONG_CODES, limits.client_network()),
        failure=verification.WrongCode,
        locked=limits.TooMany,
        within=rules.SIGN_INS,
    ) as attempt:
        yield attempt


def has_long_codes(kind: Kind, identifier: str) -> bool:
    """Return whether codes for an identifier are long now, with letters."""
    return wrong_codes.has_long_codes(kind, recipients.key_of(kind, identifier))


def next_url(purpose: Purpose, pending: Pending | None) -> str:
    """Return the URL of the page after ``verify``."""
    return page_url(_NEXT_PAGES[purpose], pending)


def _check(purpose: Purpose, kind: Kind, experience: SignInExperience) -> None:
    if kind is Kind.USERNAME:
        raise Invalid("identifier_type", "must be email or phone")
    if not _is_enabled(purpose, kind, experience):
        raise CodesOff(purpose, kind)


def _is_enabled(purpose: Purpose, kind: Kind, experience: SignInExperience) -> bool:
    if purpose is Purpose.SIGN_IN:
        return experience.can_use_code(kind)
    if purpose is Purpose.REGISTER:
        return kind in experience.sign_up["identifiers"]
    if purpose is Purpose.FORGOT_PASSWORD:
        # Any kind of identifier with which users can sign in.
        return experience.can_use_code(kind) or experience.can_use_password(kind)
    return True

"""Sending codes and taking them back."""

from typing import Final

from django.db import transaction
from django.db.models import F

from audit import log
from audit.events import Event
from audit.log import Attempt
from audit.typed import Typed
from database import ids
from database.clock import DatabaseNow, seconds_ahead
from identity.core.errors import Invalid, ServiceError
from identity.encryption import keyring
from identity.limits import rules
from identity.limits import services as limits
from identity.users import identifiers, ownership, typed
from identity.users.identifiers import Kind
from interaction.connectors import delivery
from interaction.connectors.messages import EMAIL, SMS
from interaction.verification import code_formats, outgoing, texts, wrong_codes
from interaction.verification.models import CODE_SECONDS, CodeQuerySet, Purpose, VerificationCode
from interaction.verification.texts import Brand, Wording

_PURPOSE: Final = "verification codes"
# Only who has an account can do this with a code.
_FOR_ACCOUNTS = {Purpose.SIGN_IN, Purpose.FORGOT_PASSWORD}


class SentTooOften(ServiceError):
    """A code was sent to this identifier a moment ago, or many within the hour."""

    reason = "sent_too_often"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"identifier: a code was sent lately: ask for another in {seconds} seconds",
            headers={"Retry-After": str(seconds)},
        )


class WrongCode(ServiceError):
    """Not the code that was sent, or no longer. It does not say which."""

    reason = "wrong_code"
    message = "code: wrong or expired"


class WrongCodeOfSomebody(WrongCode):
    """The code was sent to somebody who is known. Told in the same words."""

    names_somebody = True


class NotVerified(ServiceError):
    """No code for this identifier was entered in this browser lately, or it was made use of."""

    reason = "not_verified"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field}: enter the verification code that was sent to it first")


def channel_of(kind: Kind) -> str:
    """Return the channel that reaches an identifier of this kind."""
    return EMAIL if kind is Kind.EMAIL else SMS


def send(  # noqa: PLR0913 - what a code is bound to, and how its message looks
    *,
    purpose: Purpose,
    kind: Kind,
    identifier: str,
    browser: str,
    brand: Brand,
    wording: Wording | None = None,
    device: str = "",
) -> int:
    """Send a code to an email or a phone and return how many seconds it is good for.

    It is good for this purpose and in this browser (the hash of its cookie). Codes that this
    browser asked for before, for the same, end. To sign in and for a forgotten password it
    goes to the address of the account; for an identifier that nobody has, the answer, the
    rows and the time are the same, and nothing is sent. ``device`` is the browser, if it signed the
    person in before: what others had sent does not count against it.

    Raises:
        Invalid: the identifier is none of this kind.
        delivery.NoConnector: nothing can be sent to this kind.
        SentTooOften: one was sent within the pause, or too many within the hour.
        limits.TooMany: the tenant sent too many text messages within the hour.

    """
    to = address_of(kind, identifier)
    if not delivery.can_deliver(channel_of(kind)):
        raise delivery.NoConnector(channel_of(kind))
    facts = {"identifier_type": kind.value, "interaction_type": purpose.value}
    with log.attempt(Event.CODE_SEND, _typed(to), **facts) as entry:
        sent, code = _new_code(purpose, kind, to, browser)
        entry.names_somebody(_is_of_somebody(sent))
        message = texts.code_message(
            pk=str(ids.new()),
            purpose=purpose,
            channel=channel_of(kind),
            to=sent.address,
            code=code,
            brand=brand,
            wording=wording,
        )
        with transaction.atomic():
            _replace_earlier(sent, device)
            outgoing.post(message, silent=sent.silent)
            entry.succeeded()
    return CODE_SECONDS


def _new_code(purpose: Purpose, kind: Kind, address: str, browser: str) -> tuple[VerificationCode, str]:
    """Make a code, unsaved, and tell it: the row knows its hash alone."""
    key = key_of(kind, address)
    code = code_formats.new_code(is_long=wrong_codes.are_too_many(kind, key))
    sent = VerificationCode(purpose=purpose, kind=kind, identifier_key=key, address=address, browser=browser)
    sent.code_hash = _hash(str(sent.pk), code)
    if purpose in _FOR_ACCOUNTS:
        user = ownership.find_by_proof(kind, key)
        sent.silent = user is None
        if user is not None:
            # Two spellings share a key; only the account's own is sent its codes.
            sent.address = user.email if kind is Kind.EMAIL else user.phone
    return sent, code


def _replace_earlier(sent: VerificationCode, device: str) -> None:
    """Store a new code, unless too many were sent, and end those that it takes the place of."""
    kind, key = Kind(sent.kind), sent.identifier_key
    whom, network = f"{kind} {key}", limits.client_network()
    limits.hit(
        (rules.CODE_PAUSE, f"{whom} {sent.purpose} {network}"),
        (rules.CODES, f"{whom} {network}"),
        (rules.CODES_KNOWN_BROWSER, f"{whom} {device}") if device else (rules.CODES_FROM_ANYWHERE, whom),
        refusal=SentTooOften,
    )
    if kind is Kind.PHONE:
        limits.hit((rules.TEXT_MESSAGES, ""))
    earlier = VerificationCode.objects.of(
        purpose=Purpose(sent.purpose), kind=kind, key=key, browser=sent.browser
    )
    earlier.live().update(expires_at=DatabaseNow())
    sent.expires_at = seconds_ahead(CODE_SECONDS)
    sent.save(force_insert=True)


def verify(*, purpose: Purpose, kind: Kind, identifier: str, code: str, browser: str) -> VerificationCode:
    """Use a code up and return the proof that it was entered.

    White space in the code does not count, nor case, and wide digits are digits. Five wrong codes end
    the one that was sent. The proof is good for 10 minutes, once: see ``spend``.

    Raises:
        WrongCode: it is another, expired, used, or was asked for elsewhere or otherwise.

    """
    facts = {"identifier_type": kind.value, "interaction_type": purpose.value}
    key = key_of(kind, identifier)
    try:
        with log.attempt(Event.CODE_VERIFY, _typed(identifier), **facts) as entry:
            codes = VerificationCode.objects.of(purpose=purpose, kind=kind, key=key, browser=browser)
            sent = _use_up(codes if browser else codes.none(), code, entry)
    except WrongCode:
        wrong_codes.count(kind, key)
        raise
    return sent


def _use_up(codes: CodeQuerySet, code: str, entry: Attempt) -> VerificationCode:
    sent = codes.live().order_by("-created_at", "-pk").first()
    if sent is None:
        raise WrongCode
    entry.names_somebody(_is_of_somebody(sent))
    wrong = WrongCodeOfSomebody if _is_of_somebody(sent) else WrongCode
    plain = code_formats.plain(code)
    is_right = keyring.matches(f"{sent.pk} {plain}", sent.code_hash, purpose=_PURPOSE) and not sent.silent
    used = {"used_at": DatabaseNow()} if is_right else {}
    with transaction.atomic():
        # One statement counts the try and uses the code up, so that of guesses made at once only the
        # first five can be right.
        live = VerificationCode.objects.filter(pk=sent.pk).live()
        if not live.update(tries=F("tries") + 1, **used):
            raise wrong
        if is_right:
            entry.succeeded()
    if not is_right:
        raise wrong
    return sent


def proof_of(*, purpose: Purpose, kind: Kind, identifier: str, browser: str) -> VerificationCode | None:
    """Return the proof that this browser entered the code of an identifier, if there is one."""
    if not browser:
        return None
    entered = VerificationCode.objects.of(
        purpose=purpose, kind=kind, key=key_of(kind, identifier), browser=browser
    )
    return entered.proofs().order_by("-used_at").first()


def proofs(*, purpose: Purpose, browser: str) -> dict[Kind, VerificationCode]:
    """Return what a browser has proven lately for a purpose: the newest proof of each kind."""
    if not browser:
        return {}
    entered = VerificationCode.objects.filter(purpose=purpose, browser=browser).proofs()
    return {Kind(proof.kind): proof for proof in entered.order_by("used_at")}


def awaited(*, purpose: Purpose, kind: Kind, browser: str) -> VerificationCode | None:
    """Return the newest code that this browser may still enter for a purpose."""
    sent = VerificationCode.objects.filter(purpose=purpose, kind=kind, browser=browser)
    return sent.live().order_by("-created_at", "-pk").first()


def spend(proof: VerificationCode, *, field: str = "identifier") -> None:
    """Make use of a proof, once. In a transaction that is rolled back it stays good.

    Raises:
        NotVerified: it is too old by now, or was made use of.

    """
    if not VerificationCode.objects.filter(pk=proof.pk).proofs().update(spent_at=DatabaseNow()):
        raise NotVerified(field)


def key_of(kind: Kind, identifier: str) -> str:
    """Return the key under which an email or a phone is known, valid or not."""
    return (
        identifiers.phone_filter(identifier) if kind is Kind.PHONE else identifiers.fold(identifier.strip())
    )


def address_of(kind: Kind, identifier: str) -> str:
    """Return where messages to an email or a phone go, checked.

    Raises:
        Invalid: the identifier is none of this kind.

    """
    try:
        return identifiers.phone(identifier) if kind is Kind.PHONE else identifiers.email(identifier.strip())
    except Invalid as error:
        raise Invalid("identifier", error.rule) from None


def _typed(identifier: str) -> Typed:
    return typed.identifier(identifier, name="identifier")


def _is_of_somebody(sent: VerificationCode) -> bool:
    """Tell whether a code was sent to the address of somebody who is known, or for such a person."""
    return sent.purpose == Purpose.CHANGE or (sent.purpose in _FOR_ACCOUNTS and not sent.silent)


def _hash(pk: str, code: str) -> str:
    return keyring.digest(f"{pk} {code}", purpose=_PURPOSE)

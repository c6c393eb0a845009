"""Sending and verifying codes."""

from typing import Final

from django.db import transaction
from django.db.models import F

from audit import log
from audit.events import Event
from audit.log import AuditedOperation
from audit.typed_identifiers import TypedIdentifier
from database import chains, ids
from database.chains import Chain
from database.clock import DatabaseNow, seconds_ahead
from identity.core.errors import ServiceError
from identity.core.tenant_statements import Update, uuid
from identity.encryption import keyring
from identity.users import ownership, typed_identifiers
from identity.users.identifiers import Kind
from interaction.connectors import delivery
from interaction.verification import code_formats, code_limits, outgoing, recipients, texts, wrong_codes
from interaction.verification.models import CODE_SECONDS, CodeQuerySet, Purpose, VerificationCode
from interaction.verification.texts import Brand, MessageTemplate

_PURPOSE: Final = "verification codes"
# Codes for these purposes go to existing users only.
_FOR_ACCOUNTS = {Purpose.SIGN_IN, Purpose.FORGOT_PASSWORD, Purpose.SECOND_FACTOR}

_spend: Final = Update(
    lambda: VerificationCode.objects.filter(pk=uuid("pk")).proofs(), spent_at=DatabaseNow()
)


class SentTooOften(ServiceError):
    """A code was sent to this identifier within the pause, or too many within the hour."""

    reason = "sent_too_often"

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"identifier: a code was sent recently: ask for another in {seconds} seconds",
            headers={"Retry-After": str(seconds)},
        )


class WrongCode(ServiceError):
    """The code is wrong or has expired. The message does not say which."""

    reason = "wrong_code"
    message = "code: wrong or expired"


class WrongCodeOfUser(WrongCode):
    """The wrong code belongs to an existing user. The message is the same."""

    identifies_user = True


class NotVerified(ServiceError):
    """This browser has not proven the identifier, or the proof has expired or was already used."""

    reason = "not_verified"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field}: enter the verification code that was sent to it first")


def send(  # noqa: PLR0913 - what a code is bound to, and how its message looks
    *,
    purpose: Purpose,
    kind: Kind,
    identifier: str,
    browser: str,
    brand: Brand,
    template: MessageTemplate | None = None,
    device: str = "",
) -> int:
    """Send a code to an email or phone and return how many seconds it is valid.

    The code is valid for this purpose and in this browser (the hash of its cookie). Earlier codes of
    this browser for the same identifier and purpose end. For an existing user, a code to sign in, for a
    forgotten password or as the second factor goes to the address of the account. If no user has the
    identifier, such a code is not sent, but the response, the rows and the time are the same. ``device`` is
    set if the browser signed the user in before: then codes that other browsers requested do not count
    against its limit.

    Raises:
        Invalid: the identifier is not valid for this kind.
        delivery.NoConnector: no connector can send to identifiers of this kind.
        SentTooOften: a code was sent within the pause, or too many within the hour.
        limits.TooMany: the tenant sent too many text messages within the hour.

    """
    to = recipients.address_of(kind, identifier)
    if not delivery.can_deliver(recipients.channel_of(kind)):
        raise delivery.NoConnector(recipients.channel_of(kind))
    facts = {"identifier_type": kind.value, "interaction_type": purpose.value}
    with log.attempt(Event.CODE_SEND, _typed_identifier(to), **facts) as audited:
        row, code = _new_code(purpose, kind, to, browser)
        audited.set_identifier_known(_belongs_to_user(row))
        message = texts.new_code_message(
            pk=str(ids.new()),
            purpose=purpose,
            channel=recipients.channel_of(kind),
            to=row.address,
            code=code,
            brand=brand,
            template=template,
        )
        with transaction.atomic():
            _replace_earlier(row, device)
            outgoing.enqueue(message, silent=row.silent)
            audited.record_success()
    return CODE_SECONDS


def _new_code(purpose: Purpose, kind: Kind, address: str, browser: str) -> tuple[VerificationCode, str]:
    """Build an unsaved code and return it with its plain text; only the hash is stored."""
    key = recipients.key_of(kind, address)
    code = code_formats.new_code(is_long=wrong_codes.has_long_codes(kind, key))
    row = VerificationCode(purpose=purpose, kind=kind, identifier_key=key, address=address, browser=browser)
    row.code_hash = _hash(str(row.pk), code)
    if purpose in _FOR_ACCOUNTS:
        user = ownership.find_by_proof(kind, key)
        row.silent = user is None
        if user is not None:
            row.epoch = user.epoch
            # Two spellings can share a key. Codes go only to the account's own spelling.
            row.address = user.email if kind is Kind.EMAIL else user.phone
    return row, code


def _replace_earlier(row: VerificationCode, device: str) -> None:
    """Store a new code, unless too many were sent, and end the earlier codes that it replaces."""
    code_limits.count(row, device, refusal=SentTooOften)
    earlier = VerificationCode.objects.matching(
        purpose=Purpose(row.purpose), kind=Kind(row.kind), key=row.identifier_key, browser=row.browser
    )
    earlier.live().update(expires_at=DatabaseNow())
    row.expires_at = seconds_ahead(CODE_SECONDS)
    row.save(force_insert=True)


def verify(  # noqa: PLR0913 - what a code is bound to, and its proof
    *,
    purpose: Purpose,
    kind: Kind,
    identifier: str,
    code: str,
    browser: str,
    secret_hash: str | None = None,
) -> VerificationCode:
    """Redeem a code and return the proof that it was entered.

    ``secret_hash`` is of the new secret that the browser needs to use the proof in a later request.

    White space and case are ignored, and full-width digits count as digits. After five wrong tries the
    code ends. The proof is valid for 10 minutes and can be used once: see ``spend``.

    Raises:
        WrongCode: the code is wrong, expired, used, or belongs to another browser, identifier or purpose.

    """
    facts = {"identifier_type": kind.value, "interaction_type": purpose.value}
    key = recipients.key_of(kind, identifier)
    try:
        with log.attempt(Event.CODE_VERIFY, _typed_identifier(identifier), **facts) as audited:
            codes = VerificationCode.objects.matching(purpose=purpose, kind=kind, key=key, browser=browser)
            proof = _redeem(codes if browser else codes.none(), code, audited, secret_hash)
    except WrongCode:
        wrong_codes.record(kind, key)
        raise
    return proof


def _redeem(
    codes: CodeQuerySet, code: str, audited: AuditedOperation, secret_hash: str | None
) -> VerificationCode:
    row = codes.live().order_by("-created_at", "-pk").first()
    if row is None:
        raise WrongCode
    audited.set_identifier_known(_belongs_to_user(row))
    wrong = WrongCodeOfUser if _belongs_to_user(row) else WrongCode
    typed_code = f"{row.pk} {code_formats.normalize(code)}"
    is_right = keyring.matches(typed_code, row.code_hash, purpose=_PURPOSE) and not row.silent
    redeemed = {"used_at": DatabaseNow(), "secret_hash": secret_hash} if is_right else {}
    with transaction.atomic():
        # One statement counts the try and redeems the code, so that only the first five of concurrent
        # guesses can succeed.
        live = VerificationCode.objects.filter(pk=row.pk).live()
        if not live.update(tries=F("tries") + 1, **redeemed):
            raise wrong
        if is_right:
            audited.record_success()
    if not is_right:
        raise wrong
    row.secret_hash = secret_hash
    return row


def find_pending_code(*, purpose: Purpose, kind: Kind, browser: str) -> VerificationCode | None:
    """Return the newest code that this browser can still enter for a purpose."""
    codes = VerificationCode.objects.filter(purpose=purpose, kind=kind, browser=browser)
    return codes.live().order_by("-created_at", "-pk").first()


def spend(proof: VerificationCode, *, field: str = "identifier", chain: Chain | None = None) -> None:
    """Spend a proof, in the chain of the changes that it allows. Without these changes, it stays valid.

    Raises:
        NotVerified: the proof has expired or is already spent.

    """
    with chains.joined(chain) as writes:
        writes.add(_spend, {"pk": proof.pk}, refusal=lambda: NotVerified(field))


def _typed_identifier(identifier: str) -> TypedIdentifier:
    return typed_identifiers.build(identifier, name="identifier")


def _belongs_to_user(row: VerificationCode) -> bool:
    """Return whether a code was sent for an existing user."""
    return row.purpose == Purpose.CHANGE or (row.purpose in _FOR_ACCOUNTS and not row.silent)


def _hash(pk: str, code: str) -> str:
    return keyring.digest(f"{pk} {code}", purpose=_PURPOSE)

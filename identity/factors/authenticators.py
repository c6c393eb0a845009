"""Authenticators (TOTP): setting one up, and using its codes."""

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field as column
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database.chains import Chain
from database.clock import DatabaseNow
from identity.core import tenancy
from identity.core.errors import Invalid
from identity.core.tenant_statements import Select, Update, number, uuid
from identity.encryption import keyring
from identity.factors import totp
from identity.factors.errors import AlreadyEnrolled, EnrolmentExpired, TooManyFactors, WrongFactor
from identity.factors.kinds import FactorType
from identity.factors.models import Authenticator
from identity.users import row_locks
from identity.users.models import User

PURPOSE: Final = "users' authenticators"
MOST: Final = 5
_ENROLMENT_PURPOSE: Final = "enrolment of authenticators"
_ENROLMENT_SECONDS: Final = 900
_IMPORTED_LENGTH: Final = range(16, 65)

_of_user: Final = Select(lambda: get_timed(user_id=uuid("user_id")))

_use: Final = Update(
    lambda: Authenticator.objects.filter(pk=uuid("pk"), last_step__lt=number("step")),
    last_step=number("step"),
    last_used_at=DatabaseNow(),
)


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A secret that is not stored yet, and the encrypted text that carries the secret through the form."""

    secret: bytes
    sealed: str


@dataclass(frozen=True, slots=True)
class ImportedSecret:
    """The secret of an authenticator that another system used."""

    secret: bytes = column(repr=False)
    name: str = ""


def begin(user: User, *, browser: str) -> Enrolment:
    """Return a new secret, bound to a user and a browser for 15 minutes. No client can choose a secret."""
    secret = totp.new_secret()
    until = timezone.now().timestamp() + _ENROLMENT_SECONDS
    facts = {"secret": base64.b64encode(secret).decode(), "until": until}
    sealed = keyring.encrypt(
        json.dumps(facts).encode(), purpose=_ENROLMENT_PURPOSE, bound_to=_bind(user, browser)
    )
    return Enrolment(secret, sealed)


def open_enrolment(user: User, sealed: str, *, browser: str) -> bytes:
    """Return the secret of an enrolment from its encrypted text.

    Raises:
        EnrolmentExpired: the enrolment is more than 15 minutes old, or of another user or browser.

    """
    try:
        plain = keyring.decrypt(sealed, purpose=_ENROLMENT_PURPOSE, bound_to=_bind(user, browser))
    except keyring.UnknownKey:
        raise EnrolmentExpired from None
    facts = json.loads(plain)
    if facts["until"] < timezone.now().timestamp():
        raise EnrolmentExpired
    return base64.b64decode(facts["secret"])


def confirm(user: User, secret: bytes, code: str, *, name: str = "") -> Authenticator:
    """Store an authenticator whose code proves that it has the secret. The code cannot be used again.

    As in ``find_code``, the code must be of the database's time.

    Raises:
        WrongFactor: the code does not belong to the secret, or the clock of the authenticator is wrong.
        AlreadyEnrolled: the user has this authenticator.
        TooManyFactors: the user has five.

    """
    now = User.objects.annotate(now=DatabaseNow()).values_list("now", flat=True).filter(pk=user.pk).first()
    if now is None:  # the user was deleted meanwhile
        raise WrongFactor
    step = totp.find_step(secret, _digits(code), after=0, now=now.timestamp())
    if step is None:
        raise WrongFactor
    return add(user, secret, name=name, last_step=step)


@transaction.atomic
def add(user: User, secret: bytes, *, name: str = "", last_step: int = 0) -> Authenticator:
    """Store an authenticator.

    Raises:
        AlreadyEnrolled: the user has this authenticator.
        TooManyFactors: the user has five.

    """
    row_locks.lock(user)
    stored = list(Authenticator.objects.filter(user=user))
    if any(_decrypt_secret(authenticator) == secret for authenticator in stored):
        raise AlreadyEnrolled
    if len(stored) >= MOST:
        raise TooManyFactors(MOST)
    new = _new_row(user, secret, name=name, last_step=last_step)
    new.save(force_insert=True)
    facts = {"type": FactorType.TOTP.value, "name": new.name}
    log.record(Event.MFA_CREATE, user_id=user.pk, id=new.pk, **facts)
    return new


@dataclass(frozen=True, slots=True)
class ValidCode:
    """A code that is valid for an authenticator in a time step. It can be used once."""

    authenticator: Authenticator
    step: int

    def use(self, chain: Chain) -> None:
        """Store that the code is used. Of concurrent requests, one uses the code.

        Raises (when the chain runs):
            WrongFactor: the code was used before.

        """
        chain.add(_use, {"pk": self.authenticator.pk, "step": self.step}, refusal=WrongFactor)


def get_timed(**condition: object) -> QuerySet[Authenticator]:
    """Return authenticators with the time of the database, which ``find_code`` needs."""
    return Authenticator.objects.filter(**condition).annotate(read_at=DatabaseNow()).order_by("pk")


def find_code(user: User, code: str, own: Iterable[Authenticator] | None = None) -> ValidCode | None:
    """Return a code with the authenticator that accepts it, or None if the code is wrong or was used.

    ``own`` are the authenticators of the user, if ``get_timed`` has read them.
    """
    digits = _digits(code)
    if len(digits) != totp.DIGITS:
        return None
    for authenticator in _of_user.all(user_id=user.pk) if own is None else own:
        secret, now = _decrypt_secret(authenticator), authenticator.now.timestamp()
        step = secret and totp.find_step(secret, digits, after=authenticator.last_step, now=now)
        if step:
            return ValidCode(authenticator, step)
    return None


def parse_secret(text: str, *, field: str = "secret") -> bytes:
    """Return a secret that another system used, from base32. ``field`` is its name in a refusal.

    Raises:
        Invalid: the text is not base32 of 16 to 64 characters.

    """
    compact = text.replace(" ", "").rstrip("=").upper()
    try:
        secret = base64.b32decode(compact + "=" * (-len(compact) % 8))
    except ValueError:
        secret = b""
    if not secret or len(compact) not in _IMPORTED_LENGTH:
        raise Invalid(field, gettext_noop("must be base32, 16 to 64 characters"))
    return secret


@transaction.atomic
def add_imported(owners: Iterable[tuple[User, Iterable[ImportedSecret]]]) -> None:
    """Store authenticators of users who were just imported, and their audit entries, in two statements."""
    new = [
        _new_row(user, imported.secret, name=imported.name)
        for user, secrets in owners
        for imported in secrets
    ]
    Authenticator.objects.bulk_create(new)
    log.record_all(
        Event.MFA_CREATE,
        (
            {"user_id": row.user_id, "id": row.pk, "type": FactorType.TOTP.value, "name": row.name}
            for row in new
        ),
    )


def _new_row(user: User, secret: bytes, **columns: Any) -> Authenticator:
    new = Authenticator(user=user, **columns)
    new.sealed_secret = keyring.encrypt(secret, purpose=PURPOSE, bound_to=_bind_row(new))
    return new


def _digits(code: str) -> str:
    return "".join(code.split())


def _decrypt_secret(authenticator: Authenticator) -> bytes | None:
    try:
        return keyring.decrypt(
            authenticator.sealed_secret, purpose=PURPOSE, bound_to=_bind_row(authenticator)
        )
    except keyring.UnknownKey:
        return None  # the doctor reports it


def _bind(user: User, browser: str) -> str:
    return f"{tenancy.active_id()}/{user.pk}/{browser}"


def _bind_row(authenticator: Authenticator) -> str:
    return f"{authenticator.tenant_id}/{authenticator.pk}"

"""What proves a user, and what follows: passwords, sign-ins, addresses that are shown to be theirs."""

from typing import Final

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from audit.events import Event
from database.statements import Entailed, all_or_nothing
from identity.core import records
from identity.core.errors import Invalid, ServiceError
from identity.core.tenant_statements import Select, Update, number, text, uuid
from identity.users import dummy_hashes, identifiers, ownership, passwords
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify

SHORTEST_PASSWORD: Final = 6
LONGEST_PASSWORD: Final = 256


def _by_key_of(kind: Kind) -> Select[User]:
    return Select(lambda: User.objects.filter(**{f"{kind}_key": text("key")})[:1])


_by_key: Final = {kind: _by_key_of(kind) for kind in Kind}
_count_sign_in: Final = Update(
    lambda: User.objects.filter(pk=uuid("pk"), epoch=number("epoch"), is_suspended=False),
    last_sign_in_at=Now(),
    login_count=F("login_count") + 1,
)


class InvalidCredentials(ServiceError):
    """Nobody is known by this identifier and password. It does not say which is wrong."""

    status = 401
    reason = "invalid_credentials"
    message = "the identifier or the password is wrong"


class WrongPassword(InvalidCredentials):
    """Somebody is known by this identifier. Told in the same words; the audit log keeps the identifier."""

    names_somebody = True


class Suspended(ServiceError):
    """The password is right, but the account is suspended."""

    names_somebody = True
    status = 403
    reason = "suspended"
    message = "this account is suspended"


def acceptable_password(password: str) -> str:
    """Return a password that an administrator may set: 6 to 256 characters.

    Raises:
        Invalid: it is shorter or longer, or cannot be stored.

    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise Invalid("password", f"must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters")
    if "\0" in password:
        raise Invalid("password", "must not contain a NUL character")
    return password


def authenticate(*, identifier: str, password: str) -> User:
    """Return the user whom identifier and password prove. It takes as long where there is no such user.

    Raises:
        InvalidCredentials: no such user, no password, or the wrong one: never told which.
        Suspended: right, but the account is suspended.
        passwords.Busy: too many sign-ins at this moment.

    """
    kind, key = identifiers.key_of(identifier)
    dummy = dummy_hashes.of(f"{kind} {key}")
    user = _by_key[kind].first(key=key)
    right, renewed = passwords.verify(password, user.password if user else dummy)
    if user is None:
        raise InvalidCredentials
    if not right:
        raise WrongPassword
    if user.is_suspended:
        raise Suspended
    if renewed is not None:
        User.objects.filter(pk=user.pk, password=user.password).update(password=renewed)
        user.password = renewed
    return user


def signed_in(user: User, *entailed: Entailed) -> None:
    """Count a sign-in, holding the row: a suspension or a new password either sees it or stops it.

    ``entailed`` is what a sign-in brings with it, the last an insert; without it, the caller's
    transaction has to.

    Raises:
        Suspended: the account was suspended meanwhile.
        InvalidCredentials: its password was changed meanwhile.

    """
    values = {"pk": user.pk, "epoch": user.epoch}
    counted = all_or_nothing(_count_sign_in, values, *entailed) if entailed else _count_sign_in(**values)
    if counted:
        return
    if User.objects.filter(pk=user.pk, is_suspended=True).exists():
        raise Suspended
    raise InvalidCredentials


def renew_password(user: User, encoded: str, *, kind: Kind, key: str) -> None:
    """Store the hash of a new password, chosen after an email or phone was proven.

    Sessions and refresh tokens end; what the proof establishes and ends is up to ``ownership``. The
    caller has a transaction and writes the audit entry.

    Raises:
        ownership.NotTheOwner: the identifier is not the account's, or does not let in, any more.

    """
    User.objects.select_for_update(no_key=True).filter(pk=user.pk).exists()
    ownership.accept_proof(user, kind, key)
    User.objects.filter(pk=user.pk).update(
        password=encoded, epoch=F("epoch") + 1, version=F("version") + 1, updated_at=Now()
    )
    notify(user, Notice.PASSWORD_CHANGED)


def confirm(user: User, password: str) -> None:
    """Make sure that who acts for a signed-in user knows the password.

    Raises:
        InvalidCredentials: it is wrong, or the user has none.
        passwords.Busy: too many passwords are being hashed at this moment.

    """
    right, _ = passwords.verify(password, user.password)
    if not right:
        raise InvalidCredentials


def set_password(user: User, password: str, *, expected: frozenset[int] | None = None) -> None:
    """Give a user a new password, which ends sessions and refresh tokens at once.

    Raises:
        Invalid: the password is too short or too long.

    """
    store_password(user, encoded_password(password), expected=expected)


def encoded_password(password: str) -> str:
    """Return a password as it is stored: for callers that go on in a transaction of their own.

    Raises:
        Invalid: the password is too short or too long.
        passwords.Busy: too many passwords are being hashed. Call it outside of transactions.

    """
    return passwords.hashed(acceptable_password(password))


@transaction.atomic
def store_password(user: User, encoded: str, *, expected: frozenset[int] | None = None) -> None:
    """Give a user a password that ``encoded_password`` made; ends sessions and refresh tokens at once.

    A notice tells the person.

    Raises:
        records.Stale: the user was changed since the caller read it.

    """
    fields = {"password": encoded, "epoch": F("epoch") + 1}
    records.change(user, fields, event=Event.USER_UPDATE, expected=expected, shown=["password"])
    notify(user, Notice.PASSWORD_CHANGED)

"""Passwords and sign-ins of users."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext_noop

from audit.events import Event
from database import chains
from database.chains import Chain
from identity.core import records
from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import fill
from identity.core.tenant_statements import Select, Update, flag, number, text, uuid
from identity.users import dummy_hashes, identifiers, ownership, passwords, sign_in_locks
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify

SHORTEST_PASSWORD: Final = 6
LONGEST_PASSWORD: Final = 256


def _select_by_key(kind: Kind) -> Select[User]:
    return Select(lambda: User.objects.filter(**{f"{kind}_key": text("key")})[:1])


_by_key: Final = {kind: _select_by_key(kind) for kind in Kind}
# ``factors`` and ``two_step`` decided what the sign-in needed. If they were changed since, the caller decides
# again.
_count_sign_in: Final = Update(
    lambda: User.objects.filter(
        pk=uuid("pk"),
        epoch=number("epoch"),
        is_suspended=False,
        factors=number("factors"),
        two_step=flag("two_step"),
    ),
    last_sign_in_at=Now(),
    login_count=F("login_count") + 1,
)

_lock: Final = Select(
    lambda: (
        User.objects.select_for_update(no_key=True).filter(pk=uuid("pk"), epoch=number("epoch")).only("pk")
    )
)


class InvalidCredentials(ServiceError):
    """The identifier or the password is wrong. Callers do not learn which."""

    status = 401
    reason = "invalid_credentials"
    message = "the identifier or the password is wrong"


class WrongPassword(InvalidCredentials):
    """The identifier is a user's, so the audit log stores it as text. Callers see no difference."""

    identifies_user = True


class NoPassword(WrongPassword):
    """The user has no password. Callers see no difference."""

    audit_facts: Mapping[str, str] = MappingProxyType({"reason": "no_password"})


class FactorsChanged(InvalidCredentials):
    """The user's second factors were changed during the sign-in."""


class Suspended(ServiceError):
    """The password is right, but the account is suspended."""

    identifies_user = True
    status = 403
    reason = "suspended"
    message = "this account is suspended"


def clean_password(password: str, *, shortest: int = SHORTEST_PASSWORD) -> str:
    """Return a password that an administrator may set, unchanged.

    Raises:
        Invalid: the password does not have ``shortest`` to 256 characters, or contains a NUL character.

    """
    if not shortest <= len(password) <= LONGEST_PASSWORD:
        rule = fill(
            gettext_noop("must have %(shortest)s to %(longest)s characters"),
            shortest=shortest,
            longest=LONGEST_PASSWORD,
        )
        raise Invalid("password", rule, code="min_length" if len(password) < shortest else "max_length")
    if "\0" in password:
        raise Invalid("password", gettext_noop("must not contain a NUL character"))
    return password


def authenticate(*, identifier: str, password: str) -> User:
    """Return the user with this identifier and password. An unknown identifier takes the same time.

    The user may be suspended. Callers say so only after every required factor was right.

    Raises:
        InvalidCredentials: no user has the identifier, or the user has another password or none.
        passwords.Busy: the hashing queue is full.

    """
    kind, key = identifiers.parse(identifier)
    dummy = dummy_hashes.get_dummy(f"{kind} {key}")
    user = _by_key[kind].first(key=key)
    is_right, new_hash = passwords.verify(password, user.password if user else dummy)
    if user is None:
        raise InvalidCredentials
    if not is_right:
        raise WrongPassword if user.password else NoPassword
    if new_hash is not None and not user.is_suspended:
        User.objects.filter(pk=user.pk, password=user.password).update(password=new_hash)
        user.password = new_hash
    return user


def record_sign_in(user: User, chain: Chain | None = None) -> None:
    """Count a sign-in, unless the account was suspended or got a new password meanwhile.

    The caller adds the other changes of the sign-in to ``chain`` later: this locks the user's row first.

    Raises:
        Suspended: the account was suspended meanwhile.
        FactorsChanged: the user's second factors were changed meanwhile.
        InvalidCredentials: the password was changed meanwhile.

    """
    read = {"pk": user.pk, "epoch": user.epoch, "factors": user.factors, "two_step": user.two_step}
    with chains.joined(chain) as writes:
        writes.add(_count_sign_in, read, refusal=lambda: _find_refusal(user))


def _find_refusal(user: User) -> ServiceError:
    current = User.objects.filter(pk=user.pk).values("is_suspended", "epoch").first()
    if current and current["is_suspended"]:
        return Suspended()
    return FactorsChanged() if current and current["epoch"] == user.epoch else InvalidCredentials()


def lock_for_sign_in(user: User) -> None:
    """Lock the row of a user whose first factor is proven, until the transaction ends.

    Raises:
        InvalidCredentials: the password was changed meanwhile.

    """
    if not _lock.first(pk=user.pk, epoch=user.epoch):
        raise InvalidCredentials


def reset_password(user: User, encoded: str, *, kind: Kind, key: str) -> None:
    """Store the hash of a new password after the user has proven an email or phone.

    Sessions, refresh tokens and locks end, and ``ownership`` applies the proof. The caller has a transaction
    and writes the audit entry.

    Raises:
        ownership.NotTheOwner: the proof of this identifier no longer gives access to the account, or the
            identifier, the password or the kinds of second factors were changed concurrently.

    """
    address = {kind.value: getattr(user, kind), f"{kind}_key": key}
    unchanged = User.objects.filter(pk=user.pk, epoch=user.epoch, factors=user.factors, **address)
    current = unchanged.select_for_update(no_key=True).first()
    if current is None:
        raise ownership.NotTheOwner
    ownership.accept_proof(current, kind, key)
    User.objects.filter(pk=user.pk).update(
        password=encoded, epoch=F("epoch") + 1, version=F("version") + 1, updated_at=Now()
    )
    sign_in_locks.clear(current)
    notify(current, Notice.PASSWORD_CHANGED)


def check_password(user: User, password: str) -> None:
    """Check the password of a signed-in user.

    Raises:
        InvalidCredentials: the password is wrong, or the user has none.
        passwords.Busy: the hashing queue is full.

    """
    is_right, _ = passwords.verify(password, user.password)
    if not is_right:
        raise InvalidCredentials


def hash_new_password(password: str) -> str:
    """Return the hash of a new password. Call it outside of transactions.

    Raises:
        Invalid: the password is too short or too long.
        passwords.Busy: the hashing queue is full.

    """
    return passwords.hash_password(clean_password(password))


@transaction.atomic
def store_password(user: User, encoded: str, *, expected: frozenset[int] | None = None) -> None:
    """Store a hash of ``hash_new_password`` and notify the user. Sessions, tokens and locks end.

    Raises:
        records.Stale: the user was changed since the caller read it.

    """
    fields = {"password": encoded, "epoch": F("epoch") + 1}
    records.change(user, fields, event=Event.USER_UPDATE, expected=expected, changed_fields=["password"])
    sign_in_locks.clear(user)
    notify(user, Notice.PASSWORD_CHANGED)

"""Passkeys of users: storing a new one, finding them, and recording their use."""

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import chains
from database.chains import Chain
from database.clock import DatabaseNow
from identity.core.errors import Invalid
from identity.core.tenant_statements import Select, SelectValues, Update, flag, number, text, uuid
from identity.factors import relying_party
from identity.factors.ceremonies import NewPasskey, ProvenPasskey, StoredPasskey
from identity.factors.ceremony_options import Descriptor
from identity.factors.challenges import AcceptedChallenge
from identity.factors.credential_columns import MAX_NAME, Credential
from identity.factors.errors import AlreadyEnrolled, TooManyFactors
from identity.factors.kinds import FactorType
from identity.factors.models import Passkey
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.submissions import used_once
from identity.users import row_locks
from identity.users.models import User

MOST: Final = 20

_by_hash: Final = Select(
    lambda: (
        Passkey.objects.select_related("user")
        .filter(credential_hash=text("credential_hash"))
        .order_by("pk")[:1]
    )
)
_own_by_hash: Final = Select(
    lambda: Passkey.objects.filter(
        user_id=uuid("user_id"), rp_id=text("rp_id"), credential_hash=text("credential_hash")
    )[:1]
)
_any_usable: Final = SelectValues(
    lambda: Passkey.objects.filter(user_id=uuid("user_id"), rp_id=text("rp_id")).values_list("pk")[:1]
)


def hash_id(credential_id: str) -> str:
    """Return the hash by which a credential is found."""
    return hashlib.sha256(credential_id.encode()).hexdigest()


def find(credential_id: str) -> Passkey | None:
    """Return the passkey with this credential id in the active tenant, with its user."""
    return _by_hash.first(credential_hash=hash_id(credential_id))


def usable(user: User) -> QuerySet[Passkey]:
    """Return the passkeys of a user that work at the present address, the last used first."""
    rows = Passkey.objects.filter(user=user, rp_id=relying_party.current().id)
    return rows.order_by(F("last_used_at").desc(nulls_last=True), "-pk")


def has_usable(user: User) -> bool:
    """Return whether a user has a passkey that works at the present address."""
    return bool(_any_usable.all(user_id=user.pk, rp_id=relying_party.current().id))


def find_usable(user: User, credential_id: str) -> Passkey | None:
    """Return the passkey of a user with this credential id, if it works at the present address."""
    rp_id = relying_party.current().id
    return _own_by_hash.first(user_id=user.pk, rp_id=rp_id, credential_hash=hash_id(credential_id))


def filter_first_factors(passkeys: QuerySet[Passkey]) -> QuerySet[Passkey]:
    """Return the passkeys that sign in alone: they are discoverable and verify the user."""
    return passkeys.filter(is_discoverable=True, verifies_user=True)


def describe(passkeys: Iterable[Credential]) -> list[Descriptor]:
    """Return the descriptors of passkeys for the options of a ceremony."""
    return [Descriptor(passkey.credential_id, passkey.transports) for passkey in passkeys]


def read(passkey: Passkey) -> StoredPasskey:
    """Return what an assertion of a user is compared with."""
    return read_with_handle(passkey, passkey.user_id.bytes)


def read_with_handle(passkey: Credential, user_handle: bytes) -> StoredPasskey:
    """Return what an assertion is compared with, if the owner has this user handle."""
    return StoredPasskey(
        credential_id=passkey.credential_id,
        public_key=bytes(passkey.public_key),
        sign_count=passkey.sign_count,
        backup_eligible=passkey.backup_eligible,
        user_handle=user_handle,
    )


@transaction.atomic
def add(user: User, new: NewPasskey, *, name: str = "") -> Passkey:
    """Store a passkey whose registration was checked.

    Raises:
        AlreadyEnrolled: a user of this tenant has this credential.
        TooManyFactors: the user has 20.
        PasskeyRefused: the challenge was used before.

    """
    spend(new.challenge)
    row_locks.lock(user)
    if Passkey.objects.filter(credential_hash=hash_id(new.credential_id)).exists():
        raise AlreadyEnrolled
    if Passkey.objects.filter(user=user).count() >= MOST:
        raise TooManyFactors(MOST)
    passkey = Passkey(user=user, name=name, **get_columns(new))
    passkey.save(force_insert=True)
    facts = {"type": FactorType.WEBAUTHN.value, "name": passkey.name}
    log.record(Event.MFA_CREATE, user_id=user.pk, id=passkey.pk, **facts)
    return passkey


def get_columns(new: NewPasskey) -> dict[str, Any]:
    """Return the columns of a passkey whose registration was checked, without its owner and its name."""
    return {
        "credential_id": new.credential_id,
        "credential_hash": hash_id(new.credential_id),
        "public_key": new.public_key,
        "algorithm": new.algorithm,
        "sign_count": new.sign_count,
        "aaguid": new.aaguid,
        "transports": list(new.transports),
        "rp_id": new.rp_id,
        "is_discoverable": new.is_discoverable,
        "verifies_user": new.verifies_user,
        "backup_eligible": new.backup_eligible,
        "backed_up": new.backed_up,
        "attestation": new.attestation,
    }


def record_use(
    passkey: Credential, proven: ProvenPasskey, *, is_discoverable: bool = False, chain: Chain | None = None
) -> None:
    """Store the new counter of a passkey, and that its challenge is used.

    ``is_discoverable``: the browser has found the passkey without its id, which is stored if it is news.

    Raises:
        PasskeyRefused: the challenge was used before, or the passkey was used or removed meanwhile.

    """
    reveals_discoverable = is_discoverable and passkey.is_discoverable is None
    use = {
        "pk": passkey.pk,
        "known_count": passkey.sign_count,
        "sign_count": proven.sign_count,
        "backed_up": proven.backed_up,
    }
    with chains.joined(chain) as writes:
        spend(proven.challenge, writes)
        writes.add(_use_of(type(passkey), reveals_discoverable), use, refusal=lambda: _find_refusal(passkey))
        if reveals_discoverable and isinstance(passkey, Passkey):
            # The passkey can sign in from now on, which ``User.factors`` says too.
            user = passkey.user
            writes.then(lambda: user.refresh_from_db(fields=("factors",)))


def _find_refusal(passkey: Credential) -> PasskeyRefused:
    was_removed = not type(passkey)._default_manager.filter(pk=passkey.pk).exists()
    return PasskeyRefused(Reason.UNKNOWN_CREDENTIAL if was_removed else Reason.COUNTER)


@cache
def _use_of(model: type[Credential], reveals_discoverable: bool) -> Update:  # noqa: FBT001 - as ``record_use``
    """Return the statement that stores the use of a passkey, unless it was used or removed meanwhile."""
    # Keys on several devices have no common counter: see ``ceremonies``.
    is_unchanged = Q(backup_eligible=True) | Q(sign_count=number("known_count"))
    learned = {"is_discoverable": True, "verifies_user": True} if reveals_discoverable else {}
    return Update(
        lambda: model._default_manager.filter(is_unchanged, pk=uuid("pk")),
        sign_count=number("sign_count"),
        backed_up=flag("backed_up"),
        last_used_at=DatabaseNow(),
        **learned,
    )


def check_name(name: str) -> None:
    """Check the name that an owner gives to a passkey.

    Raises:
        Invalid: the name is too long, or contains a NUL character.

    """
    if "\0" in name:  # PostgreSQL cannot store it
        raise Invalid("name", gettext_noop("must not contain a NUL character"))
    if len(name) > MAX_NAME:
        raise Invalid("name", f"must have at most {MAX_NAME} characters")


def spend(challenge: AcceptedChallenge, chain: Chain | None = None) -> None:
    """Store that a challenge was used, in the transaction or the chain that does what the challenge allows.

    Raises:
        PasskeyRefused: the challenge was used before.

    """
    refusal = PasskeyRefused(Reason.CHALLENGE_USED)
    used_once.use(challenge.hash, expires_at=challenge.expires_at, refusal=refusal, chain=chain)

"""Ownership of accounts: what happens when a user proves an email or phone.

A code, a provider or an administrator proves an identifier. A registration without verification and the
members API do not: the addresses that they store are contact data. If an account has no evidence of an owner,
the first user who proves an identifier takes it over. An identifier that one user proves is removed from
another account that has it unproven. See N1 in docs/decisions.md.
"""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Now

from audit import log
from audit.events import Event
from database import ids
from identity.core.errors import ServiceError
from identity.core.tenant_statements import Select, text
from identity.users import user_data
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.models import User
from identity.users.notices import Notice, notify

_OTHER_EVIDENCE: Final = "has_other_evidence"


class NotTheOwner(ServiceError):
    """The account has lost the identifier, or another identifier of the account was proven first."""

    reason = "not_the_owner"
    message = "identifier: it no longer belongs to this account"


def _with_evidence(users: QuerySet[User]) -> QuerySet[User]:
    has_evidence = Case(
        When(user_data.other_evidence(), then=Value(value=True)),
        default=Value(value=False),
        output_field=BooleanField(),
    )
    return users.annotate(**{_OTHER_EVIDENCE: has_evidence})


def _select_by_key(kind: Kind) -> Select[User]:
    return Select(lambda: _with_evidence(User.objects.filter(**{f"{kind}_key": text("key")}))[:1])


_by_key: Final = {kind: _select_by_key(kind) for kind in ADDRESS_KINDS}


def find_by_proof(kind: Kind, key: str, *, address: str = "") -> User | None:
    """Return the user who may sign in with a proof of this identifier, or None. This takes one statement.

    The user has proven it before, or the account has no evidence of an owner. ``address`` is where the code
    was sent. The user's address must be equal, because another spelling can be another mailbox.
    """
    user = _by_key[kind].first(key=key)
    if user is None or address not in {"", getattr(user, kind)}:
        return None
    return user if user.has_proven(kind) or not _is_owned(user) else None


def lock_unclaimed(kind: Kind, key: str) -> User | None:
    """Return the user who has proven an identifier, or whom the members API created and who has no owner.

    The row stays locked until the transaction ends, so that no other transaction takes the account over.
    """
    user = _by_key[kind].first(key=key)
    if user is None or not (user.has_proven(kind) or _is_unclaimed_member(user)):
        return None
    locked = User.objects.select_for_update(no_key=True).filter(pk=user.pk, **{f"{kind}_key": key})
    return user if locked.values_list("pk").first() else None


def accept_proof(user: User, kind: Kind, key: str) -> None:
    """Mark an identifier as verified. The first proof takes over an account without an owner.

    The caller has a transaction and has locked the user's row.

    Raises:
        NotTheOwner: the proof of this identifier no longer gives access to the account.

    """
    if getattr(user, f"{kind}_verified") and keep_proof(user, kind):
        return  # another account cannot take a verified identifier
    current = _with_evidence(User.objects.filter(pk=user.pk, **{f"{kind}_key": key})).first()
    if current is None:
        raise NotTheOwner
    if not current.has_proven(kind):
        if _is_owned(current):
            raise NotTheOwner
        take_over(current, [kind], stores_proof=True)
    else:
        proven = {f"{kind}_verified": True, f"{kind}_proven": True}
        User.objects.filter(pk=user.pk).update(**proven, version=F("version") + 1)
    user.refresh_from_db()


def keep_proof(user: User, kind: Kind) -> bool:
    """Store the proof of an identifier that is verified already. Return whether it is still verified.

    With a stored proof, the identifier stays proven if an administrator unsets the verified flag.
    """
    if user.has_own_proof(kind):
        return True
    key = f"{kind}_key"
    verified = User.objects.filter(pk=user.pk, **{key: getattr(user, key), f"{kind}_verified": True})
    return bool(verified.update(**{f"{kind}_proven": True}))


def is_unowned(user: User) -> bool:
    """Return whether the account has no evidence of an owner, so the next proof takes it over."""
    if user.get_proven_addresses() or not (user.self_registered or user.email or user.phone):
        return False
    return _with_evidence(User.objects.filter(pk=user.pk)).filter(**{_OTHER_EVIDENCE: False}).exists()


@transaction.atomic
def take_over(user: User, proven: Iterable[Kind], *, stores_proof: bool = False) -> None:
    """Give an account to the person who has proven these identifiers, and end all earlier access.

    Password, sessions, refresh families, codes, consents and linked accounts end. Every other email or phone
    is removed. The username stays, because it proves nothing. The caller has locked the user's row.
    ``stores_proof`` marks the identifiers as proven and verified, unless the caller has done so.
    """
    for data in user_data.get_declarations():
        if data.end is not None:
            data.end(user)
    proven_kinds = set(proven)
    removed = [kind for kind in ADDRESS_KINDS if kind not in proven_kinds and getattr(user, kind)]
    fields: dict[str, Any] = {"password": "", "epoch": F("epoch") + 1}
    if stores_proof:
        for kind in proven_kinds:
            fields |= {f"{kind}_proven": True, f"{kind}_verified": True}
    for kind in removed:
        fields |= _clear_identifier(user, kind)
        user_data.end_dependent_on(user, kind)
    _store(user, fields)
    log.record(
        Event.USER_OWNER_CHANGE,
        user_id=user.pk,
        id=user.pk,
        proven=sorted(proven_kinds),
        removed=sorted(removed),
    )


def release(kinds: Iterable[Kind], *, to: User) -> bool:
    """Remove identifiers that ``to`` has proven from accounts that have them unproven.

    Return whether an account lost one. Both accounts get an audit entry with the same ``transfer_id``. The
    user who loses an identifier gets a notice at the other address if that is proven. A user who has proven
    the identifier keeps it, and storing ``to`` then violates the unique constraint.
    """
    claimed_keys = {kind: getattr(to, f"{kind}_key") for kind in kinds if getattr(to, kind)}
    lost = [
        (kind, holder)
        for holder in _lock_holders(claimed_keys, except_user=to.pk)
        for kind, key in claimed_keys.items()
        if getattr(holder, f"{kind}_key") == key and not holder.has_proven(kind)
    ]
    for kind, holder in lost:
        _transfer(kind, holder, to)
    return bool(lost)


def release_to_many(users: list[User]) -> None:
    """Do what ``release`` does for the proven addresses of many new users.

    This takes one statement if no account loses an identifier.
    """
    claims = {
        kind: {getattr(user, f"{kind}_key"): user for user in users if user.has_proven(kind)}
        for kind in ADDRESS_KINDS
    }
    is_holder = Q(pk=None)
    for kind, by_key in claims.items():
        is_holder |= Q(**{f"{kind}_key__in": [key for key in by_key if key is not None]})
    for holder in User.objects.select_for_update(no_key=True).filter(is_holder).order_by("pk"):
        for kind, by_key in claims.items():
            claimant = by_key.get(getattr(holder, f"{kind}_key")) if getattr(holder, kind) else None
            if claimant is not None and not holder.has_proven(kind):
                _transfer(kind, holder, claimant)


def get_holders(kind: Kind, key: str) -> QuerySet[User]:
    """Return the users from whom ``release`` does not take an identifier: at most one has proven it."""
    holders = User.objects.find_by_key(kind, key)
    return holders.filter(pk__in=[user.pk for user in holders if user.has_proven(kind)])


def _lock_holders(claimed_keys: dict[Kind, str], *, except_user: UUID) -> list[User]:
    """Lock and return the users who have one of these keys, in the order of their ids."""
    if not claimed_keys:
        return []
    holders = (
        User.objects.select_for_update(no_key=True).filter(_has_any(claimed_keys)).exclude(pk=except_user)
    )
    return list(holders.order_by("pk"))


def lock_with_holders(claimed: User) -> None:
    """Lock a user and the current holders of the user's new addresses, in the order of their ids.

    The common order prevents deadlocks between users who claim each other's addresses.
    """
    claimed_keys = {kind: getattr(claimed, f"{kind}_key") for kind in ADDRESS_KINDS if getattr(claimed, kind)}
    if claimed_keys:
        rows = User.objects.select_for_update(no_key=True).filter(Q(pk=claimed.pk) | _has_any(claimed_keys))
        list(rows.order_by("pk").values_list("pk"))


def _has_any(claimed_keys: dict[Kind, str]) -> Q:
    return Q(*((f"{kind}_key", key) for kind, key in claimed_keys.items()), _connector=Q.OR)


def _transfer(kind: Kind, holder: User, to: User) -> None:
    # Users can read their own entries, so an entry has the transfer id and not the id of the other account.
    transfer_id = str(ids.new())
    _store(holder, _clear_identifier(holder, kind))
    user_data.end_dependent_on(holder, kind)
    facts = {"kind": kind.value, "transfer_id": transfer_id}
    log.record(Event.IDENTIFIER_REMOVE, user_id=holder.pk, id=holder.pk, **facts)
    log.record(Event.IDENTIFIER_TAKE, user_id=to.pk, id=to.pk, **facts)
    notify(holder, Notice.IDENTIFIER_REMOVED)


def _clear_identifier(user: User, kind: Kind) -> dict[str, Any]:
    """Clear an identifier of a user object, and return the columns to update."""
    setattr(user, kind, "")
    return {kind.value: "", f"{kind}_key": None, f"{kind}_verified": False, f"{kind}_proven": None}


def _store(user: User, fields: dict[str, Any]) -> None:
    User.objects.filter(pk=user.pk).update(
        **fields, search_text=user.fold_for_search(), version=F("version") + 1, updated_at=Now()
    )


def _is_unclaimed_member(user: User) -> bool:
    """Return whether the members API created the account, which gives no username, and it has no owner."""
    return not (user.self_registered or user.username or _is_owned(user))


def _is_owned(user: User) -> bool:
    return bool(user.get_proven_addresses()) or getattr(user, _OTHER_EVIDENCE)

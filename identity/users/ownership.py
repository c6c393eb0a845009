"""Who owns an account: what the proof of an email or a phone establishes, and what it ends.

An identifier is proven when a code, a provider or an administrator established it. A registration
without verification and the members API establish nothing: what they store is contact data. The first
proof on an account without any evidence of an owner takes the account over, and whoever proves an
identifier that another account holds unproven gets it. See N1 in docs/decisions.md.
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
from identity.users import identifiers, user_data
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify

ADDRESSES: Final = (Kind.EMAIL, Kind.PHONE)
_ON_TOP: Final = "has_other_evidence"


class NotTheOwner(ServiceError):
    """The proof came too late: the identifier is not the account's any more, or somebody proved another."""

    reason = "not_the_owner"
    message = "identifier: it no longer belongs to this account"


def _with_evidence(users: QuerySet[User]) -> QuerySet[User]:
    has_any = Case(
        When(user_data.other_evidence(), then=Value(value=True)),
        default=Value(value=False),
        output_field=BooleanField(),
    )
    return users.annotate(**{_ON_TOP: has_any})


def _by_key_of(kind: Kind) -> Select[User]:
    return Select(lambda: _with_evidence(User.objects.filter(**{f"{kind}_key": text("key")}))[:1])


_by_key: Final = {kind: _by_key_of(kind) for kind in ADDRESSES}


def find_by_proof(kind: Kind, key: str, *, address: str = "") -> User | None:
    """Return the user whom a proof of this identifier lets in, or nobody. Both cost one statement.

    That is who has proven it, or whose account has no evidence of an owner at all. ``address`` is
    where the code went that was entered: another spelling under the same key is another mailbox.
    """
    user = _by_key[kind].first(key=key)
    if user is None or address not in {"", getattr(user, kind)}:
        return None
    return user if user.has_proven(kind) or not _is_owned(user) else None


def hold_unclaimed(kind: Kind, key: str) -> User | None:
    """Return the user of an identifier if proven, or if only the members API made the account.

    Nobody takes the account over until the transaction ends.
    """
    user = _by_key[kind].first(key=key)
    if user is None or (not user.has_proven(kind) and (user.self_registered or _is_owned(user))):
        return None
    held = User.objects.select_for_update(no_key=True).filter(pk=user.pk, **{f"{kind}_key": key})
    return user if held.values_list("pk").first() else None


def accept_proof(user: User, kind: Kind, key: str) -> None:
    """Note that the person who signs in has just proven an identifier; the first proof takes over.

    The caller holds the user's row and has a transaction.

    Raises:
        NotTheOwner: the identifier is not the account's, or does not let in, any more.

    """
    if getattr(user, f"{kind}_verified"):
        return  # proven long ago, and nobody can take it away
    held = _with_evidence(User.objects.filter(pk=user.pk, **{f"{kind}_key": key})).first()
    if held is None:
        raise NotTheOwner
    if not held.has_proven(kind):
        if _is_owned(held):
            raise NotTheOwner
        take_over(held, [kind], verified=True)
    else:
        proven = {f"{kind}_verified": True, f"{kind}_proven": True}
        User.objects.filter(pk=user.pk).update(**proven, version=F("version") + 1)
    user.refresh_from_db()


def is_unowned(user: User) -> bool:
    """Tell whether the next proof takes this account over: nobody vouched for it, nobody proved anything."""
    if user.proven_addresses() or not (user.self_registered or user.email or user.phone):
        return False
    return _with_evidence(User.objects.filter(pk=user.pk)).filter(**{_ON_TOP: False}).exists()


@transaction.atomic
def take_over(user: User, proven: Iterable[Kind], *, verified: bool) -> None:
    """Give an account to who proves identifiers of it: all that was set or begun before ends.

    The password, sessions, refresh families, codes, consents and linked accounts end, and so does
    every identifier that is not among ``proven``. The username stays: it is a name, not a proof. The
    caller holds the user's row.
    """
    for data in user_data.declared():
        if data.end is not None:
            data.end(user)
    kept = set(proven)
    removed = [kind for kind in ADDRESSES if kind not in kept and getattr(user, kind)]
    fields: dict[str, Any] = {"password": "", "epoch": F("epoch") + 1}
    for kind in kept:
        fields |= {f"{kind}_proven": True} | ({f"{kind}_verified": True} if verified else {})
    for kind in removed:
        fields |= _emptied(user, kind)
        user_data.end_resting_on(user, kind)
    _store(user, fields)
    log.record(
        Event.USER_OWNER_CHANGE,
        user_id=user.pk,
        id=user.pk,
        proven=sorted(kept),
        removed=sorted(removed),
    )


def release(kinds: Iterable[Kind], *, to: User) -> bool:
    """Take identifiers that ``to`` has proven away from accounts that hold them unproven; tell if any did.

    Both accounts get an audit entry with the same ``transfer_id``, and the person who loses an
    identifier a notice at the other address, if that one is proven. Holders who have proven it keep it:
    storing ``to`` is then refused.
    """
    wanted = {kind: getattr(to, f"{kind}_key") for kind in kinds if getattr(to, kind)}
    lost = [
        (kind, holder)
        for holder in holders(wanted, besides=to.pk)
        for kind, key in wanted.items()
        if getattr(holder, f"{kind}_key") == key and not holder.has_proven(kind)
    ]
    for kind, holder in lost:
        _transfer(kind, holder, to)
    return bool(lost)


def release_to_many(people: list[User]) -> None:
    """Do the same as ``release`` for many who are imported, in one statement unless somebody loses one."""
    claims = {kind: {getattr(user, f"{kind}_key"): user for user in people} for kind in ADDRESSES}
    has_one = Q(pk=None)
    for kind, by_key in claims.items():
        has_one |= Q(**{f"{kind}_key__in": [key for key in by_key if key is not None]})
    for holder in User.objects.select_for_update(no_key=True).filter(has_one).order_by("pk"):
        for kind, by_key in claims.items():
            claimant = by_key.get(getattr(holder, f"{kind}_key")) if getattr(holder, kind) else None
            if claimant is not None and not holder.has_proven(kind):
                _transfer(kind, holder, claimant)


def holders(wanted: dict[Kind, str], *, besides: UUID) -> list[User]:
    """Return the other users who have one of these keys, their rows held, in the order of their ids."""
    if not wanted:
        return []
    found = User.objects.select_for_update(no_key=True).filter(_has_one(wanted)).exclude(pk=besides)
    return list(found.order_by("pk"))


def hold_with_holders(claimed: User) -> None:
    """Hold a user's row and those of who have an address that the user is to get, in one order for all.

    So two people who take an address from each other do not wait for each other for ever.
    """
    wanted = {kind: getattr(claimed, f"{kind}_key") for kind in ADDRESSES if getattr(claimed, kind)}
    if wanted:
        rows = User.objects.select_for_update(no_key=True).filter(Q(pk=claimed.pk) | _has_one(wanted))
        list(rows.order_by("pk").values_list("pk"))


def _has_one(wanted: dict[Kind, str]) -> Q:
    return Q(*((f"{kind}_key", key) for kind, key in wanted.items()), _connector=Q.OR)


def _transfer(kind: Kind, holder: User, to: User) -> None:
    # One id in both entries, and neither account's id in the other's: people can read their own entries.
    transfer_id = str(ids.new())
    _store(holder, _emptied(holder, kind))
    user_data.end_resting_on(holder, kind)
    facts = {"kind": kind.value, "transfer_id": transfer_id}
    log.record(Event.IDENTIFIER_REMOVE, user_id=holder.pk, id=holder.pk, **facts)
    log.record(Event.IDENTIFIER_TAKE, user_id=to.pk, id=to.pk, **facts)
    notify(holder, Notice.IDENTIFIER_REMOVED)


def _emptied(user: User, kind: Kind) -> dict[str, Any]:
    """Take an identifier off a user object; return the columns that say so."""
    setattr(user, kind, "")
    return {kind.value: "", f"{kind}_key": None, f"{kind}_verified": False, f"{kind}_proven": None}


def _store(user: User, fields: dict[str, Any]) -> None:
    User.objects.filter(pk=user.pk).update(
        **fields, search_text=user.fold_for_search(), version=F("version") + 1, updated_at=Now()
    )


def _is_owned(user: User) -> bool:
    return bool(user.proven_addresses()) or getattr(user, _ON_TOP)


def key_of(kind: Kind, address: str) -> str:
    """Return the key that an address of a kind is stored and compared by."""
    return identifiers.phone_key(address) if kind is Kind.PHONE else identifiers.fold(address)

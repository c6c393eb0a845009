"""What a first factor proved besides the user: an address, or an account at a provider.

The proof is stored when the session starts. Until then the second factor is missing, and the person who
proved the first may not be the user.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.db import transaction

from database.chains import Chain
from identity.users import credentials, ownership
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.journeys import provider_accounts
from interaction.journeys.second_factor.sign_ins import SignIn, Visit
from interaction.pending_sign_ins.services import NothingPending
from interaction.social import proven_accounts
from interaction.social.proven_accounts import ProvenAccount


def record(user: User, sign_in: SignIn, chain: Chain) -> None:
    """Store what was proven in the chain that starts the session. The chain locks the user's row first.

    Raises (when the chain runs):
        ownership.NotTheOwner: the user no longer owns the identifier.
        NothingPending: the user has another identifier now, or the account can no longer be linked.

    """
    if sign_in.proven is not None:
        chain.call(partial(_accept_address, user, sign_in, *sign_in.proven))
    if sign_in.account is not None or (sign_in.finishing and sign_in.finishing.social_id):
        chain.call(partial(_record_account, user, sign_in))


def _accept_address(user: User, sign_in: SignIn, kind: Kind, key: str) -> None:
    if sign_in.finishing is not None and getattr(user, f"{kind}_key") != key:
        raise NothingPending
    ownership.accept_proof(user, kind, key)


def _record_account(user: User, sign_in: SignIn) -> None:
    if account := _take_account(user, sign_in):
        provider_accounts.record_use(user, account)


@contextmanager
def claim(user: User, sign_in: SignIn, visit: Visit) -> Iterator[tuple[SignIn, Visit]]:
    """Give an account to its first owner, in one transaction with the block, which starts the session.

    The change of owner increments the user's epoch, which ends the sessions of the account. So it precedes
    the new session. Yield what remains of the sign-in and of the visit.

    Raises:
        credentials.InvalidCredentials: the account was changed meanwhile.
        ownership.NotTheOwner: the account has an owner, or no longer has the identifier.

    """
    if sign_in.proven is None or sign_in.finishing or user.has_proven(sign_in.proven[0]):
        yield sign_in, visit
        return
    earlier = user.epoch
    with transaction.atomic():
        credentials.lock_for_sign_in(user)
        take_over(user, sign_in)
        is_own = visit.current is not None and visit.current.user_id == user.pk
        has_ended = is_own and user.epoch != earlier
        yield replace(sign_in, proven=None), replace(visit, current=None) if has_ended else visit


def take_over(user: User, sign_in: SignIn) -> None:
    """Give an account without an owner to the user who has proven its address first.

    Waiting for the second factor would protect nothing: such an account has none, and one can only be set up.

    Raises:
        ownership.NotTheOwner: the account has an owner, or no longer has the identifier.

    """
    if sign_in.proven is not None and not user.has_proven(sign_in.proven[0]):
        ownership.accept_proof(user, *sign_in.proven)


def keep_account(user: User, sign_in: SignIn, browser: str) -> UUID | None:
    """Keep the account at a provider until the second factor is proven, and return its id, or None."""
    account = _take_account(user, sign_in)
    return proven_accounts.keep(account, browser) if account else None


def _take_account(user: User, sign_in: SignIn) -> ProvenAccount | None:
    """Return the account of a sign-in, if any. If it was kept, it is kept no longer."""
    stored = sign_in.finishing
    if stored is None or stored.social_id is None:
        return sign_in.account
    return provider_accounts.take_kept(user, stored.social_id)

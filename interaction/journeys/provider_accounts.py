"""Links to accounts at providers: whether one may be made, and what is stored when the session starts."""

from uuid import UUID

from identity.users import ownership
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors.providers.base import Profile
from interaction.experience import services as experiences
from interaction.pending_sign_ins.services import NothingPending
from interaction.social import proven_accounts, same_address
from interaction.social import services as identities
from interaction.social.proven_accounts import ProvenAccount


class AccountChanged(NothingPending):
    """The account, the user's address or the tenant's settings were changed meanwhile: sign in again."""


def may_link(user: User, profile: Profile) -> bool:
    """Return whether the tenant lets a profile be linked to a user, who has verified the same email."""
    allows = bool(experiences.current().social_sign_in["automatic_account_linking"])
    return allows and user.email_verified and same_address.is_same_address(user.email, profile.email)


def take_kept(user: User, social_id: UUID) -> ProvenAccount:
    """Return the account that was kept for a sign-in until its second factor was proven.

    Raises:
        AccountChanged: it was unlinked, or its connector disabled or deleted meanwhile.

    """
    account = proven_accounts.take(social_id, user)
    if account is None:
        raise AccountChanged
    return account


def record_use(user: User, account: ProvenAccount) -> None:
    """Store the use of an account in the transaction that starts the session, and link it if it is new.

    The caller has locked the user's row.

    Raises:
        AccountChanged: the account can no longer be linked, or was unlinked meanwhile.
        identities.TooManyLinkedAccounts: the user has 50 linked accounts.

    """
    if account.identity is None:
        _link(user, account)
    elif not identities.record_use(
        account.identity, account.profile, account.connector, account.provider_name
    ):
        raise AccountChanged


def _link(user: User, account: ProvenAccount) -> None:
    profile = account.profile
    # The user was read before the row was locked, and may have another address by now.
    user.refresh_from_db(fields=("email", "email_key", "email_verified", "email_proven"))
    if not may_link(user, profile) or not ownership.keep_proof(user, Kind.EMAIL):
        raise AccountChanged
    try:
        identities.link_and_notify(user, profile, account.connector, account.provider_name)
    except identities.LinkedElsewhere:
        raise AccountChanged from None

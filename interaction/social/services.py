"""Linking accounts at other providers to users."""

import hashlib
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users import row_locks, sign_in_ways, sign_out
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.social.models import SocialIdentity

MOST: Final = 50  # linked accounts of a user


class LinkedElsewhere(ServiceError):
    """The account is linked to another user."""

    reason = "linked_elsewhere"
    message = gettext_noop("that account is linked to another user")


class TooManyLinkedAccounts(ServiceError):
    """The user has as many linked accounts as a user may have."""

    reason = "too_many_linked_accounts"
    message = gettext_noop("a user can have at most 50 linked accounts: unlink one first")


class SignedOut(ServiceError):
    """The session that requested the link ended meanwhile."""

    reason = "signed_out"
    message = gettext_noop("the session has ended: sign in, then link the account again")


class LastSignInMethod(ServiceError):
    """The user has no other way to sign in than this account."""

    reason = "last_way_in"
    message = gettext_noop("this is the only way to sign in to this account: set a password first")


def find_by_profile(profile: Profile) -> SocialIdentity | None:
    """Return the linked account of a profile, with its user, if there is one.

    The alias is compared first, so an account stays the same when the provider's other name for it changes.
    """
    identities, main = SocialIdentity.objects.select_related("user"), _fingerprint(profile)
    if profile.alias is None:
        return identities.filter(fingerprint=main).first()
    alias = _hash(*profile.alias)
    found = identities.filter(Q(fingerprint__in=[main, alias]) | Q(alias_fingerprint=alias))
    return min(found, key=lambda each: alias not in {each.fingerprint, each.alias_fingerprint}, default=None)


def find_by_user(user: User) -> list[SocialIdentity]:
    """Return the accounts that are linked to a user, the first linked first."""
    return list(SocialIdentity.objects.filter(user=user).order_by("created_at", "pk"))


@transaction.atomic
def link_from(session: Session, profile: Profile, connector: Connector, provider_name: str) -> SocialIdentity:
    """Link an account to the user of a session, if the session is still live, and notify the user.

    While the user was at the provider, a recovery, a new password or a sign-out may have ended the session.

    Raises:
        SignedOut: the session ended meanwhile.
        LinkedElsewhere: the account is linked to another user.
        TooManyLinkedAccounts: the user has 50 linked accounts.

    """
    # Lock order: the user's row first. A change of the user's epoch holds it too.
    user = row_locks.lock_current(session.user_id)
    live = Session.objects.live().select_for_update(of=("self",), no_key=True).filter(pk=session.pk)
    if user is None or not live.exists():
        raise SignedOut
    return link_and_notify(user, profile, connector, provider_name)


@transaction.atomic
def link_and_notify(user: User, profile: Profile, connector: Connector, provider_name: str) -> SocialIdentity:
    """Link the account of a profile to a user, and notify the user. A repeated link changes nothing.

    The caller has locked the user's row.

    Raises:
        LinkedElsewhere: the account is linked to another user.
        TooManyLinkedAccounts: the user has 50 linked accounts.

    """
    identity, is_new = _get_or_link(user, profile, connector, provider_name)
    if is_new:
        if SocialIdentity.objects.filter(user=user)[MOST:].exists():
            raise TooManyLinkedAccounts
        notify(user, Notice.ACCOUNT_LINKED, provider=provider_name)
    return identity


@transaction.atomic
def link(user: User, profile: Profile, connector: Connector, provider_name: str) -> SocialIdentity:
    """Link the account of a profile to a user who was created for it. A repeated link changes nothing.

    Raises:
        LinkedElsewhere: the account is linked to another user.

    """
    return _get_or_link(user, profile, connector, provider_name)[0]


def _get_or_link(
    user: User, profile: Profile, connector: Connector, provider_name: str
) -> tuple[SocialIdentity, bool]:
    known = find_by_profile(profile) if profile.alias else None
    identity, is_new = (
        (known, False)
        if known
        else SocialIdentity.objects.get_or_create(
            fingerprint=_fingerprint(profile),
            defaults={
                "user": user,
                "alias_fingerprint": _hash(*profile.alias) if profile.alias else "",
                "provider": profile.provider,
                "subject": profile.subject,
                "connector_id": connector.connector_id,
                "provider_name": provider_name,
                "name": profile.name,
                "email": profile.email,
                "last_used_at": timezone.now(),
            },
        )
    )
    if identity.user_id != user.pk:
        raise LinkedElsewhere
    if is_new:
        _record(Event.SOCIAL_IDENTITY_CREATE, identity)
    return identity, is_new


def record_use(identity: SocialIdentity, profile: Profile, connector: Connector, provider_name: str) -> bool:
    """Store the time of a sign-in with a linked account, its connector, and the provider's current profile.

    Return whether the account is still linked. Name and email remain if the provider does not return them:
    Apple returns the name at the first sign-in only, and some providers let the user withhold the email.
    """
    identity.connector_id, identity.provider_name = connector.connector_id, provider_name
    identity.name = profile.name or identity.name
    identity.email = profile.email or identity.email
    identity.last_used_at = timezone.now()
    linked = SocialIdentity.objects.filter(pk=identity.pk, user=identity.user_id)
    return bool(
        linked.update(
            connector_id=identity.connector_id,
            provider_name=identity.provider_name,
            name=identity.name,
            email=identity.email,
            last_used_at=identity.last_used_at,
        )
    )


@transaction.atomic
def unlink(user: User, identity_id: UUID) -> None:
    """Unlink an account from a user, sign the user out everywhere, and notify the user.

    All sessions and refresh tokens end, because sessions do not store with which account they began.

    Raises:
        Gone: the user has no such account.
        LastSignInMethod: the user can sign in with this account, and in no other way.

    """
    # Locked, so that two concurrent calls cannot unlink the last two accounts.
    locked = row_locks.lock_current(user.pk)
    identity = SocialIdentity.objects.filter(user=user, pk=identity_id).first()
    if locked is None or identity is None:
        raise Gone
    had_way_in = sign_in_ways.has_way_in(locked)
    _unlink(locked, identity)
    if had_way_in and not sign_in_ways.has_way_in(locked):
        raise LastSignInMethod
    sign_out.sign_out(locked)


def unlink_all(user: User) -> None:
    """Unlink all accounts from a user whose row is locked and whose sessions end, and notify the user.

    The user gets one notice for each provider. Accounts beyond ``MOST``, of a time when there was no limit,
    share one audit entry.
    """
    identities = find_by_user(user)
    for identity in identities[:MOST]:
        _record(Event.SOCIAL_IDENTITY_DELETE, identity)
    if others := identities[MOST:]:
        log.record(Event.SOCIAL_IDENTITY_DELETE, user_id=user.pk, count=len(others))
    for provider_name in dict.fromkeys(identity.provider_name for identity in identities):
        notify(user, Notice.ACCOUNT_UNLINKED, provider=provider_name)
    SocialIdentity.objects.filter(user=user).delete()


def _unlink(user: User, identity: SocialIdentity) -> None:
    _record(Event.SOCIAL_IDENTITY_DELETE, identity)
    notify(user, Notice.ACCOUNT_UNLINKED, provider=identity.provider_name)
    identity.delete()


def _record(event: Event, identity: SocialIdentity) -> None:
    log.record(
        event,
        user_id=identity.user_id,
        id=identity.pk,
        connector_id=identity.connector_id,
        provider=identity.provider,
        subject=identity.subject,
    )


def _fingerprint(profile: Profile) -> str:
    return _hash(profile.provider, profile.subject)


def _hash(provider: str, subject: str) -> str:
    return hashlib.sha256(f"{provider}\0{subject}".encode()).hexdigest()

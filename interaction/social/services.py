"""Linking accounts elsewhere to people here."""

import hashlib
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.social.models import SocialIdentity


class LinkedElsewhere(ServiceError):
    """That account already belongs to somebody else here."""

    reason = "linked_elsewhere"
    message = "that account is linked to another user"


class SignedOut(ServiceError):
    """The session in which the person asked for the link ended meanwhile."""

    reason = "signed_out"
    message = "the session has ended: sign in, then link the account again"


class LastWayIn(ServiceError):
    """Without it the person could not sign in any more."""

    reason = "last_way_in"
    message = "this is the only way to sign in to this account: set a password first"


def find(profile: Profile) -> SocialIdentity | None:
    """Return the identity that a provider vouches for, with its user, if it is linked to anybody."""
    return SocialIdentity.objects.filter(fingerprint=_fingerprint(profile)).select_related("user").first()


def of(user: User) -> list[SocialIdentity]:
    """Return the accounts that are linked to a user, the first linked first."""
    return list(SocialIdentity.objects.filter(user=user).order_by("created_at", "pk"))


@transaction.atomic
def link_from(session: Session, profile: Profile, connector: Connector, provider_name: str) -> SocialIdentity:
    """Link an account for the person of a session, if it still counts, and tell the person.

    The provider took its time to answer. A recovered account, a new password or a sign-out
    meanwhile ends what was begun in the session.

    Raises:
        SignedOut: the session ended meanwhile.
        LinkedElsewhere: the account is somebody else's.

    """
    # The user's row first, as everywhere: who moves the epoch holds it.
    held = User.objects.select_for_update().filter(pk=session.user_id).first()
    counts = Session.objects.live().select_for_update(of=("self",)).filter(pk=session.pk)
    if held is None or not counts.exists():
        raise SignedOut
    identity, is_new = _found_or_linked(held, profile, connector, provider_name)
    if is_new:
        notify(held, Notice.ACCOUNT_LINKED, provider=provider_name)
    return identity


@transaction.atomic
def link(user: User, profile: Profile, connector: Connector, provider_name: str) -> SocialIdentity:
    """Link an account that a provider vouched for just now. Linking it again changes nothing.

    Raises:
        LinkedElsewhere: it is somebody else's.

    """
    return _found_or_linked(user, profile, connector, provider_name)[0]


def _found_or_linked(
    user: User, profile: Profile, connector: Connector, provider_name: str
) -> tuple[SocialIdentity, bool]:
    identity, is_new = SocialIdentity.objects.get_or_create(
        fingerprint=_fingerprint(profile),
        defaults={
            "user": user,
            "provider": profile.provider,
            "subject": profile.subject,
            "connector_id": connector.connector_id,
            "provider_name": provider_name,
            "name": profile.name,
            "email": profile.email,
            "last_used_at": timezone.now(),
        },
    )
    if identity.user_id != user.pk:
        raise LinkedElsewhere
    if is_new:
        _record(Event.SOCIAL_IDENTITY_CREATE, identity)
    return identity, is_new


def note_use(identity: SocialIdentity, profile: Profile) -> None:
    """Remember that somebody came in through it, and what the provider says of them now."""
    identity.name, identity.email, identity.last_used_at = profile.name, profile.email, timezone.now()
    SocialIdentity.objects.filter(pk=identity.pk).update(
        name=identity.name, email=identity.email, last_used_at=identity.last_used_at
    )


@transaction.atomic
def unlink(user: User, identity_id: UUID) -> None:
    """Take an account elsewhere away from a user, who cannot sign in through it any more.

    Raises:
        Gone: the user has no such account (any more).
        LastWayIn: the user has no password and no other account.

    """
    # Held, so that of two accounts unlinked at once one stays.
    held = User.objects.select_for_update().filter(pk=user.pk).first()
    linked = SocialIdentity.objects.filter(user=user)
    identity = linked.filter(pk=identity_id).first()
    if held is None or identity is None:
        raise Gone
    if not held.password and linked.count() == 1:
        raise LastWayIn
    _record(Event.SOCIAL_IDENTITY_DELETE, identity)
    notify(held, Notice.ACCOUNT_UNLINKED, provider=identity.provider_name)
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
    return hashlib.sha256(f"{profile.provider}\0{profile.subject}".encode()).hexdigest()

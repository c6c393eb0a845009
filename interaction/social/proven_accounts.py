"""The account at a provider that proved the first factor of a sign-in.

The account is linked, and its profile stored, when the session starts. Until the second factor is proven, the
account is kept as an attempt without a known state, so that no answer of a provider can redeem it.
"""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from identity.encryption import keyring
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.social import attempts, kept_profiles, offers
from interaction.social.models import SocialAttempt, SocialIdentity
from interaction.social.offers import NotOffered


@dataclass(frozen=True, slots=True)
class ProvenAccount:
    """An account that proved a first factor. ``identity`` is None if it is not linked to the user yet."""

    profile: Profile
    connector: Connector
    provider_name: str
    identity: SocialIdentity | None


def keep(account: ProvenAccount, browser: str) -> UUID:
    """Store an account for the pending sign-in of a browser, and return the id of what is stored."""
    identity_id = str(account.identity.pk) if account.identity else ""
    kept = attempts.create(
        attempts.new_secrets(),
        browser=browser,
        connector=account.connector,
        interaction="",
        session=None,
        person=[kept_profiles.dump(account.profile), identity_id, "second factor"],
        lifetime_seconds=settings.PENDING_SIGN_IN_SECONDS,
    )
    return kept.pk


def take(kept_id: UUID, user: User) -> ProvenAccount | None:
    """Return the account that was kept for a sign-in of a user, and delete what was kept.

    Return None if the account was unlinked, or its connector disabled or deleted meanwhile.
    """
    attempt = SocialAttempt.objects.filter(pk=kept_id).select_related("connector").first()
    if attempt is None or attempt.connector is None or not attempts.end(attempt):
        return None
    try:
        person, offer = attempts.get_person(attempt), offers.get_offer_of(attempt.connector)
    except (keyring.UnknownKey, NotOffered):
        return None
    if person is None:
        return None
    profile, identity_id, _ = person
    identity = SocialIdentity.objects.filter(pk=identity_id, user=user).first() if identity_id else None
    if identity_id and identity is None:
        return None
    return ProvenAccount(kept_profiles.load(profile), attempt.connector, offer.name, identity)

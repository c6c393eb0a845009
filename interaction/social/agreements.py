"""New users from a provider who still have to agree to the tenant's terms.

Each of them is stored as an attempt without a known state, so that no answer of a provider can redeem it. The
secrets of the attempt contain the profile. It is single-use, bound to one browser and to the secret that it
got with the provider's answer, and expires ten minutes after this answer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from identity.encryption import keyring
from interaction.connectors.providers.base import Profile
from interaction.social import attempts, kept_profiles
from interaction.social.models import SocialAttempt

_PERSON_TEXTS: Final = 2  # an account that waits for a second factor has 3: see ``proven_accounts``


def keep(attempt: SocialAttempt, profile: Profile, auth_time: datetime, secret_hash: str) -> UUID:
    """Store who signed in, and when, in place of an ended attempt. Return the id of the new one.

    ``secret_hash`` is of the secret that the browser needs to go on.
    """
    if attempt.connector is None:
        raise ValueError("the attempt has no connector")
    kept = attempts.create(
        attempts.new_secrets(),
        browser=attempt.browser,
        connector=attempt.connector,
        interaction=attempt.interaction,
        session=None,
        keep_signed_in=attempt.keep_signed_in,
        person=[kept_profiles.dump(profile), auth_time.isoformat()],
        secret_hash=secret_hash,
    )
    return kept.pk


def find(attempt_id: UUID, browser: str, proofs: Sequence[str]) -> SocialAttempt | None:
    """Return the attempt of a new user who has to agree, if it belongs to this browser.

    ``proofs`` are the hashes of its secrets.
    """
    attempt = attempts.find(attempt_id, browser, proofs)
    return attempt if attempt and read(attempt) else None


def read(attempt: SocialAttempt) -> tuple[Profile, datetime] | None:
    """Return who signed in, and when; None for other attempts, or if the key that encrypted it is missing."""
    try:
        person = attempts.get_person(attempt)
    except keyring.UnknownKey:
        return None
    if person is None or len(person) != _PERSON_TEXTS:
        return None
    return kept_profiles.load(person[0]), datetime.fromisoformat(person[1])

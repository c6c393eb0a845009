"""Second factors and remembered browsers of made-up users.

All authenticators have one secret, as all users have one password. No device has the passkeys.
"""

import base64
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from identity.factors import authenticators, backup_codes, passkeys, relying_party
from identity.factors.authenticators import ImportedSecret
from identity.factors.levels import Level
from identity.factors.models import Authenticator, BackupCode, KnownBrowser, Passkey
from identity.http import browser_names
from identity.sessions.models import Session
from identity.users.models import User
from management.seeding.demo_data import shared_secrets

KIND: Final = "authenticator"
_MOST: Final = 1_000  # the maximum number of users, rows and sessions that are changed
_WITH_AUTHENTICATOR: Final = 4  # one user in four; the first has none, so that a newcomer needs no app
_WITH_PASSKEY: Final = 3  # one in three of these users
_WITH_BACKUP_CODES: Final = 2  # one in two of these users
_USED: Final = 3  # backup codes of each
_REMEMBERED_DAYS: Final = 30
_NAMES: Final = ("iPhone", "MacBook Pro", "Windows Hello", "Pixel")
# COSE, ES256. Its private key was deleted.
_PUBLIC_KEY: Final = bytes.fromhex(
    "a5010203262001215820bab6767a90453ef57217bc1cc3648fd4c5d74fa4acac43f8c986968e8966775e"
    "22582001e158489824da3fe703165bf6104e5aa30076182cf7b7e00745f2100b59b71f"
)


def find_key(slug: str) -> str:
    """Return the secret of all authenticators in base32: a new one if nobody has an authenticator yet.

    Return an empty text if there are authenticators and their secret was not kept.
    """
    if kept := shared_secrets.read(slug, KIND):
        return kept
    if Authenticator.objects.exists():
        return ""
    key = base64.b32encode(secrets.token_bytes(20)).decode()
    shared_secrets.write(slug, key, KIND)
    return key


@transaction.atomic
def create(people: Mapping[int, User], key: str) -> int:
    """Create second factors for every fourth user who has none, and return the number of these users."""
    chosen = {
        number: user
        for number, user in people.items()
        if number % _WITH_AUTHENTICATOR == 1 and number < _MOST and not user.factors
    }
    if not (chosen and key):
        return 0
    secret = ImportedSecret(authenticators.parse_secret(key), "Phone")
    authenticators.add_imported((user, [secret]) for user in chosen.values())
    User.objects.filter(pk__in=[user.pk for user in chosen.values()]).update(two_step=True)
    for position, user in enumerate(chosen.values()):
        if position % _WITH_PASSKEY == 0:
            _create_passkey(user, _NAMES[position % len(_NAMES)])
        if position % _WITH_BACKUP_CODES == 0:
            backup_codes.renew(user)
            used = BackupCode.objects.filter(user=user).values_list("pk", flat=True)[:_USED]
            BackupCode.objects.filter(pk__in=list(used)).update(used_at=timezone.now())
        user.refresh_from_db(fields=("factors", "two_step"))
    return len(chosen)


def record_use(people: Mapping[int, User]) -> None:
    """Set the times of new factors: created with the user, and used at the last sign-in."""
    for model in (Authenticator, Passkey):
        rows = model.objects.filter(user__in=list(people.values()), last_used_at=None).select_related("user")
        for row in rows[:_MOST]:
            row.last_used_at = row.user.last_sign_in_at
            row.created_at = row.user.created_at
            row.save(update_fields=["last_used_at", "created_at"])


def create_browsers(people: Mapping[int, User]) -> None:
    """Create the browsers of live sessions of users with second factors. Every other one is remembered."""
    users = [user for user in people.values() if user.factors]
    known = set(KnownBrowser.objects.filter(user__in=users).values_list("user_id", flat=True))
    sessions = Session.objects.live().filter(user__in=users).exclude(user__in=known).order_by("created_at")
    for position, session in enumerate(sessions[:_MOST]):
        browser = KnownBrowser(
            user_id=session.user_id,
            token_hash=secrets.token_hex(32),
            label=browser_names.get_name(session.user_agent),
            ip=session.ip,
            first_seen_at=session.auth_time,
            last_seen_at=session.last_used_at,
        )
        if position % 2 == 0:
            now = timezone.now()
            browser.remembered_at, browser.remembered_level = now, Level.TWO
            browser.remembered_until = now + timedelta(days=_REMEMBERED_DAYS)
            browser.remembered_epoch = session.epoch
        browser.save(force_insert=True)


def _create_passkey(user: User, name: str) -> None:
    credential_id = secrets.token_urlsafe(32)
    Passkey.objects.create(
        user=user,
        name=name,
        credential_id=credential_id,
        credential_hash=passkeys.hash_id(credential_id),
        public_key=_PUBLIC_KEY,
        algorithm=-7,
        rp_id=relying_party.current().id,
        transports=["internal", "hybrid"],
        is_discoverable=True,
        verifies_user=True,
        backup_eligible=True,
        backed_up=True,
    )

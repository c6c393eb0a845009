"""The passkeys of a signed-in user: a list, and removing one."""

from dataclasses import dataclass
from typing import Final

from database import ids
from identity.factors import credential_json, passkeys, relying_party
from identity.factors.errors import FactorError
from identity.factors.kinds import FactorType
from identity.factors.models import Passkey
from identity.sessions.models import Session
from identity.users.factor_bits import FIRST_PASSKEY
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.journeys.account import factors
from interaction.social.models import SocialIdentity


class NoWayIn(FactorError):
    """The user has no other way to sign in than this passkey."""

    status = 403
    reason = "no_way_in"
    message = "this is the only way to sign in: set a password first"


@dataclass(frozen=True, slots=True)
class OwnPasskey:
    """A passkey, and whether it was made for another address, where it cannot be used any more."""

    row: Passkey
    is_elsewhere: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """What the page shows, and what devices are told about the account."""

    passkeys: list[OwnPasskey]
    signs_in: bool
    is_factor: bool
    rp_id: str
    user_handle: str
    user_name: str
    display_name: str


def get_overview(session: Session) -> Overview | None:
    """Return the passkeys of a user, or None if the tenant uses none."""
    experience, user = experiences.current(), session.user
    is_factor = FactorType.WEBAUTHN in experience.factor_policy.factors
    if not (is_factor or experience.has_passkey_sign_in):
        return None
    rp_id: Final = relying_party.current().id
    rows = Passkey.objects.filter(user=user).order_by("created_at", "pk")
    return Overview(
        passkeys=[OwnPasskey(row, row.rp_id != rp_id) for row in rows],
        signs_in=experience.has_passkey_sign_in,
        is_factor=is_factor,
        rp_id=rp_id,
        user_handle=credential_json.encode(user.pk.bytes),
        user_name=f"{user.identifier} · {experience.tenant.name}",
        display_name=user.name or user.identifier,
    )


def remove(session: Session, passkey_id: str, *, password: str) -> None:
    """Remove a passkey. The user's other browsers are signed out.

    Raises:
        NoWayIn: the user could not sign in any more.
        credentials.InvalidCredentials: the password is wrong.
        confirmation.ConfirmNeeded: the user proved the second factor too long ago.
        NoSuchFactor: the user has no passkey with this id.
        FactorRequired: a policy demands a second factor, and this is the last one.

    """
    _check_way_in(session.user, without=passkey_id)
    factors.remove(session, passkey_id, password=password)


def _check_way_in(user: User, *, without: str) -> None:
    if not user.factors & FIRST_PASSKEY or user.password:
        return
    removed = ids.parse(without)
    left = passkeys.can_sign_in(passkeys.usable(user)).exclude(pk__in=[removed] if removed else [])
    if left.exists():
        return
    if user.get_proven_addresses() or SocialIdentity.objects.filter(user=user).exists():
        return
    raise NoWayIn

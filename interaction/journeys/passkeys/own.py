"""The passkeys of a signed-in user, for the account page."""

from dataclasses import dataclass
from typing import Final

from identity.factors import credential_json, relying_party
from identity.factors.kinds import FactorType
from identity.factors.models import Passkey
from identity.sessions.models import Session
from interaction.experience.models import SignInExperience


@dataclass(frozen=True, slots=True)
class OwnPasskey:
    """A passkey, and whether it was created for another address, so that it cannot be used here."""

    row: Passkey
    is_elsewhere: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """What the page shows, and what it tells devices about the account."""

    passkeys: list[OwnPasskey]
    signs_in: bool
    is_factor: bool
    rp_id: str
    user_handle: str
    user_name: str
    display_name: str


def get_overview(session: Session, experience: SignInExperience) -> Overview | None:
    """Return the passkeys of a user, or None if the tenant, whose experience is given, uses none."""
    user = session.user
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

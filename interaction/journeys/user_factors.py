"""The second factors of a user, as an administrator or an application sees and changes them."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from database import ids
from identity.core.errors import Invalid
from identity.factors import (
    authenticators,
    backup_codes,
    recovery,
    services,
    settings_of_users,
    totp,
)
from identity.factors.errors import AlreadyEnrolled, TooManyFactors
from identity.factors.kinds import ADDRESS_OF_FACTOR, FactorType
from identity.factors.policy import ENROLABLE
from identity.factors.services import NoSuchFactor, StoredFactor
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.experience import services as experiences
from interaction.journeys.second_factor import authenticator_setup, available_factors


def get_factors(user: User) -> list[dict[str, Any]]:
    """Return what the user has set up, and the verified addresses to which codes can be sent now."""
    policy = experiences.current().factor_policy
    available = available_factors.find(user, policy)
    sent = [factor for factor in available.get_usable(policy) if factor in ADDRESS_OF_FACTOR]
    return [
        *(describe(factor) for factor in services.get_factors(user)),
        *(
            {"id": None, "type": factor.value, "masked": available_factors.mask_address(user, factor)}
            for factor in sent
        ),
    ]


def describe(factor: StoredFactor) -> dict[str, Any]:
    """Return what a list shows of a factor."""
    shown: dict[str, Any] = {
        "id": factor.id,
        "type": factor.type.value,
        "name": factor.name,
        "created_at": factor.created_at,
        "last_used_at": factor.last_used_at,
    }
    if factor.remaining is not None:
        del shown["name"]
        shown["remaining"] = factor.remaining
    if factor.passkey is not None:
        names = ("model", "backed_up", "is_discoverable", "rp_id")
        shown |= {name: getattr(factor.passkey, name) for name in names}
    return shown


def create(user: User, *, factor: str, secret: str = "", name: str = "") -> dict[str, Any]:
    """Set up a factor for a user. Sign-ins ask for an authenticator from now on.

    Return the secret or the codes, which are shown only this once.

    Raises:
        Invalid: the factor cannot be set up for somebody, the secret is not base32 or already set up, or the
            user has five authenticators.
        backup_codes.NoOtherFactor: backup codes need another factor.

    """
    if factor == FactorType.TOTP:
        return _create_authenticator(user, secret, name)
    if factor == FactorType.BACKUP_CODE:
        with transaction.atomic():
            codes = backup_codes.renew(user)
            notify(user, Notice.BACKUP_CODES_MADE)
        return {"type": factor, "codes": codes}
    raise Invalid(
        "type",
        "must be Totp or BackupCode: users set up the others themselves",
        allowed=(FactorType.TOTP, FactorType.BACKUP_CODE),
    )


def _create_authenticator(user: User, text: str, name: str) -> dict[str, Any]:
    secret = authenticators.parse_secret(text) if text else totp.new_secret()
    try:
        with transaction.atomic():
            stored = authenticators.add(user, secret, name=name)
            settings_of_users.set_two_step(user, is_on=True)
            notify(user, Notice.FACTOR_ADDED)
    except AlreadyEnrolled:
        raise Invalid(
            "secret", "is already that of an authenticator of this user", code="not_unique"
        ) from None
    except TooManyFactors:
        raise Invalid("type", f"a user has at most {authenticators.MOST} authenticators") from None
    issuer = experiences.current().tenant.name
    uri = totp.provisioning_uri(secret, account=user.identifier, issuer=issuer)
    return {
        "id": stored.pk,
        "type": FactorType.TOTP.value,
        "secret": totp.format_secret(secret).replace(" ", ""),
        "secret_qr_code": authenticator_setup.draw(uri),
    }


def issue_recovery_code(user: User, *, seconds: int) -> tuple[str, datetime]:
    """Return a recovery code, which is shown only this once, and when it expires.

    Raises:
        Invalid: the tenant has no factor that a user can set up during a sign-in.

    """
    if not experiences.current().factor_policy.factors & set(ENROLABLE):
        raise Invalid("mfa.factors", "has no factor that a user can set up during a sign-in")
    return recovery.issue(user, seconds=seconds)


def remove(user: User, factor_id: str) -> None:
    """Remove one factor of a user.

    Raises:
        NoSuchFactor: the user has no factor with this id.

    """
    pk: UUID | None = ids.parse(factor_id)
    if pk is None:
        raise NoSuchFactor
    services.remove(user, pk)


def switch_two_step(user: User, *, is_on: bool | None, expected: frozenset[int] | None = None) -> None:
    """Store whether the user is asked for a second factor although no policy asks. None changes nothing.

    Raises:
        Stale: the user has another version now than those in ``expected``.

    """
    with transaction.atomic():
        settings_of_users.check_version(user, expected)
        if is_on is not None:
            settings_of_users.set_two_step(user, is_on=is_on)

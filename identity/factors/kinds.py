"""The kinds of second factors, by the names that tenants and the API use."""

from enum import StrEnum
from typing import Final

from identity.users.factor_bits import AUTHENTICATOR, BACKUP_CODE, PASSKEY
from identity.users.identifiers import Kind


class FactorType(StrEnum):
    """A kind of second factor. Codes by email and phone have no row: a verified address is enough."""

    WEBAUTHN = "WebAuthn"
    TOTP = "Totp"
    EMAIL_CODE = "EmailVerificationCode"
    PHONE_CODE = "PhoneVerificationCode"
    BACKUP_CODE = "BackupCode"


# The name of a code from an administrator in the audit log and metrics. It replaces a second factor.
RECOVERY_CODE: Final = "RecoveryCode"
# The kind of address to which the codes of a factor are sent.
ADDRESS_OF_FACTOR: Final = {FactorType.EMAIL_CODE: Kind.EMAIL, FactorType.PHONE_CODE: Kind.PHONE}
# The bit of ``User.factors`` that says that a user has a factor of a kind.
BITS: Final = {
    FactorType.WEBAUTHN: PASSKEY,
    FactorType.TOTP: AUTHENTICATOR,
    FactorType.BACKUP_CODE: BACKUP_CODE,
}
# The authentication methods (RFC 8176) that a second factor adds. ``mfa`` is added for each.
METHODS: Final = {
    FactorType.WEBAUTHN: ("pop", "user"),
    FactorType.TOTP: ("otp",),
    FactorType.BACKUP_CODE: ("otp",),
    FactorType.EMAIL_CODE: ("otp",),
    FactorType.PHONE_CODE: ("otp", "sms"),
}


def add_methods(amr: list[str], factor: FactorType) -> list[str]:
    """Return the methods of a sign-in after a second factor, each once."""
    return list(dict.fromkeys([*amr, *METHODS[factor], "mfa"]))

"""Why a passkey is refused: a word for the audit entry, which the answer does not contain."""

from enum import StrEnum
from typing import Final

from identity.factors.errors import FactorError


class Reason(StrEnum):
    """What a check of a WebAuthn ceremony found, in the order of the checks."""

    SIZE = "size"
    JSON = "json"
    MALFORMED = "malformed"
    TYPE = "type"
    CHALLENGE = "challenge"
    CHALLENGE_EXPIRED = "challenge_expired"
    CHALLENGE_USED = "challenge_used"
    ORIGIN = "origin"
    CROSS_ORIGIN = "cross_origin"
    RP_ID = "rp_id"
    USER_PRESENCE = "user_presence"
    USER_VERIFICATION = "user_verification"
    BACKUP_FLAGS = "backup_flags"
    RESERVED_FLAGS = "reserved_flags"
    ALGORITHM = "algorithm"
    KEY = "key"
    CREDENTIAL_ID = "credential_id"
    CREDENTIAL_LENGTH = "credential_length"
    SIGNATURE = "signature"
    USER_HANDLE = "user_handle"
    UNKNOWN_CREDENTIAL = "unknown_credential"
    COUNTER = "counter"


class PasskeyRefused(FactorError):
    """A check of a ceremony failed. The answer does not say which, only the audit entry does."""

    status = 401
    reason = "passkey_refused"
    message = "the passkey was not accepted"

    def __init__(self, check: Reason) -> None:
        super().__init__()
        self.check: Final = check
        self.audit_facts = {"check": check.value}

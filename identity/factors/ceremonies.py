"""The checks of WebAuthn ceremonies, in a fixed order. Each has its own reason for the audit entry.

Nothing here reads or writes rows: the caller looks up the passkey and stores the results.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from identity.factors import challenges, relying_party, webauthn
from identity.factors.challenges import AcceptedChallenge, Binding
from identity.factors.credential_json import MAX_CREDENTIAL_ID, Assertion, ClientData, Registration, encode
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from identity.factors.webauthn import AuthenticatorData, Flag

_CREATE: Final = "webauthn.create"
_GET: Final = "webauthn.get"


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A credential that passed all checks of a registration."""

    credential_id: str
    public_key: bytes
    algorithm: int
    sign_count: int
    aaguid: UUID | None
    transports: tuple[str, ...]
    rp_id: str
    is_discoverable: bool | None
    verifies_user: bool
    backup_eligible: bool
    backed_up: bool
    attestation: str
    challenge: AcceptedChallenge


@dataclass(frozen=True, slots=True)
class StoredPasskey:
    """What an assertion is compared with."""

    credential_id: str
    public_key: bytes
    sign_count: int
    backup_eligible: bool
    user_handle: bytes


@dataclass(frozen=True, slots=True)
class ProvenPasskey:
    """The results of an assertion, which the caller stores."""

    sign_count: int
    backed_up: bool
    user_verified: bool
    challenge: AcceptedChallenge


def verify_registration(credential: Registration, binding: Binding) -> NewPasskey:
    """Check the answer of ``navigator.credentials.create()``.

    Raises:
        PasskeyRefused: a check failed.

    """
    challenge = _check_client_data(credential.client_data, _CREATE, (binding,))
    kind, raw = webauthn.read_attestation_object(credential.attestation_object)
    data = webauthn.read_authenticator_data(raw)
    _check_authenticator_data(data, requires_verification=binding.ceremony.requires_user_verification)
    if data.credential is None:
        raise PasskeyRefused(Reason.MALFORMED)
    algorithm = webauthn.check_public_key(data.credential.public_key)
    if not credential.id == credential.raw_id == encode(data.credential.id):
        raise PasskeyRefused(Reason.CREDENTIAL_ID)
    if not 0 < len(data.credential.id) <= MAX_CREDENTIAL_ID:
        raise PasskeyRefused(Reason.CREDENTIAL_LENGTH)
    return NewPasskey(
        credential_id=credential.id,
        public_key=data.credential.public_key,
        algorithm=algorithm,
        sign_count=data.counter,
        aaguid=data.credential.aaguid,
        transports=credential.transports,
        rp_id=relying_party.current().id,
        is_discoverable=_read_discoverable(credential, binding),
        verifies_user=bool(data.flags & Flag.USER_VERIFIED),
        backup_eligible=bool(data.flags & Flag.BACKUP_ELIGIBLE),
        backed_up=bool(data.flags & Flag.BACKED_UP),
        attestation=kind[:32],
        challenge=challenge,
    )


def _read_discoverable(credential: Registration, binding: Binding) -> bool | None:
    """Return whether a credential can be found without its id, or None if the browser did not say.

    A security key is asked not to store the credential. If the browser did not say, it did not store it.
    """
    if credential.is_discoverable is None and binding.ceremony is challenges.Ceremony.SET_UP_SECURITY_KEY:
        return False
    return credential.is_discoverable


def verify_assertion(
    credential: Assertion, passkey: StoredPasskey, bindings: Iterable[Binding]
) -> ProvenPasskey:
    """Check the answer of ``navigator.credentials.get()`` with the passkey that it names.

    The bindings have one ceremony. They differ in the user: a challenge that was made for an identifier
    accepts only passkeys of its user.

    Raises:
        PasskeyRefused: a check failed.

    """
    accepted = tuple(bindings)
    ceremony = accepted[0].ceremony
    challenge = _check_client_data(credential.client_data, _GET, accepted)
    data = webauthn.read_authenticator_data(credential.authenticator_data)
    _check_authenticator_data(data, requires_verification=ceremony.requires_user_verification)
    if data.credential is not None:
        raise PasskeyRefused(Reason.MALFORMED)
    # "If credentialRecord.backupEligible is set, verify that BE is set", and the reverse.
    if bool(data.flags & Flag.BACKUP_ELIGIBLE) is not passkey.backup_eligible:
        raise PasskeyRefused(Reason.BACKUP_FLAGS)
    if not credential.id == credential.raw_id == passkey.credential_id:
        raise PasskeyRefused(Reason.CREDENTIAL_ID)
    signed = credential.authenticator_data + hashlib.sha256(credential.client_data.raw).digest()
    webauthn.verify_signature(passkey.public_key, signed, credential.signature)
    if credential.user_handle is None and ceremony is challenges.Ceremony.SIGN_IN:
        raise PasskeyRefused(Reason.USER_HANDLE)
    if credential.user_handle not in {None, passkey.user_handle}:
        raise PasskeyRefused(Reason.USER_HANDLE)
    _check_counter(data.counter, passkey)
    return ProvenPasskey(
        sign_count=data.counter,
        backed_up=bool(data.flags & Flag.BACKED_UP),
        user_verified=bool(data.flags & Flag.USER_VERIFIED),
        challenge=challenge,
    )


def _check_client_data(
    client_data: ClientData, kind: str, bindings: tuple[Binding, ...]
) -> AcceptedChallenge:
    if client_data.type != kind:
        raise PasskeyRefused(Reason.TYPE)
    challenge = challenges.check(client_data.challenge, *bindings)
    if client_data.origin != relying_party.current().origin:
        raise PasskeyRefused(Reason.ORIGIN)
    if client_data.is_cross_origin:
        raise PasskeyRefused(Reason.CROSS_ORIGIN)
    return challenge


def _check_authenticator_data(data: AuthenticatorData, *, requires_verification: bool) -> None:
    if data.rp_id_hash != hashlib.sha256(relying_party.current().id.encode()).digest():
        raise PasskeyRefused(Reason.RP_ID)
    if not data.flags & Flag.USER_PRESENT:
        raise PasskeyRefused(Reason.USER_PRESENCE)
    if requires_verification and not data.flags & Flag.USER_VERIFIED:
        raise PasskeyRefused(Reason.USER_VERIFICATION)
    if data.flags & Flag.BACKED_UP and not data.flags & Flag.BACKUP_ELIGIBLE:
        raise PasskeyRefused(Reason.BACKUP_FLAGS)
    if data.flags & webauthn.RESERVED:
        raise PasskeyRefused(Reason.RESERVED_FLAGS)


def _check_counter(counter: int, passkey: StoredPasskey) -> None:
    """Check that the counter of a device-bound key grew: otherwise the key may have been copied.

    A synced key exists on several devices by design, so its counter says nothing. Many keys always send 0.
    """
    if passkey.backup_eligible or counter == passkey.sign_count == 0:
        return
    if counter <= passkey.sign_count:
        raise PasskeyRefused(Reason.COUNTER)

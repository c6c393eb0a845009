"""The options of WebAuthn ceremonies, as JSON for ``PublicKeyCredential.parse…OptionsFromJSON()``."""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from identity.core import tenancy
from identity.encryption import keyring
from identity.factors import challenges, relying_party
from identity.factors.challenges import Binding, Ceremony
from identity.factors.credential_json import encode
from identity.factors.webauthn import ALGORITHMS

_PURPOSE: Final = "webauthn made-up credentials"
_TIMEOUT: Final = 300_000  # milliseconds; what WebAuthn Level 3 recommends
_FEWEST_ALLOWED: Final = 2
# The lengths of credential ids of widespread authenticators, in bytes.
_PLAUSIBLE_LENGTHS: Final = (16, 20, 32, 32, 48, 64)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A credential that the browser may use, or must not create again."""

    id: str
    transports: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Return a ``PublicKeyCredentialDescriptorJSON``."""
        known = {"transports": list(self.transports)} if self.transports else {}
        return {"type": "public-key", "id": self.id, **known}


@dataclass(frozen=True, slots=True)
class Account:
    """The user for whom a credential is created, as the authenticator will show it."""

    handle: bytes
    name: str
    display_name: str


def creation_options(
    binding: Binding, account: Account, tenant_name: str, own: Iterable[Descriptor]
) -> dict[str, Any]:
    """Return the options to create a passkey or a security key.

    The user handle is unique across tenants, and says nothing about the person.
    """
    is_passkey = binding.ceremony is Ceremony.SET_UP
    return {
        "rp": {"id": relying_party.current().id, "name": tenant_name},
        "user": {
            "id": encode(account.handle),
            "name": f"{account.name} · {tenant_name}",
            "displayName": account.display_name or account.name,
        },
        "challenge": encode(challenges.new_challenge(binding)),
        "pubKeyCredParams": [{"type": "public-key", "alg": algorithm} for algorithm in ALGORITHMS],
        "timeout": _TIMEOUT,
        "excludeCredentials": [descriptor.as_json() for descriptor in own],
        "authenticatorSelection": {
            "residentKey": "required" if is_passkey else "discouraged",
            "requireResidentKey": is_passkey,
            "userVerification": "required" if is_passkey else "preferred",
        },
        "hints": ["client-device", "hybrid"] if is_passkey else ["security-key"],
        "attestation": "none",
        "extensions": {"credProps": True},
    }


def request_options(binding: Binding, allowed: Iterable[Descriptor]) -> dict[str, Any]:
    """Return the options to use a passkey. If none is named, the user chooses among those of the device."""
    must_verify = binding.ceremony.requires_user_verification
    return {
        "rpId": relying_party.current().id,
        "challenge": encode(challenges.new_challenge(binding)),
        "timeout": _TIMEOUT,
        "allowCredentials": [descriptor.as_json() for descriptor in allowed],
        "userVerification": "required" if must_verify else "preferred",
        "hints": [],
    }


def allowed_for(identifier: str, own: Sequence[str]) -> list[Descriptor]:
    """Return the credentials to name for an identifier that was typed at the sign-in.

    Made-up ids complete them to two. An identifier without passkeys gets made-up ids only. Made-up ids are
    the same at each request, so the answer does not tell whether an account or a passkey exists.
    """
    length = _length_of(own[0]) if own else _plausible_length(identifier)
    missing = max(0, _FEWEST_ALLOWED - len(own))
    ids = [*own, *(_made_up(identifier, number, length) for number in range(1, missing + 1))]
    ids.sort(key=lambda one: hmac.digest(_mac(identifier, 0), one.encode(), "sha256"))
    return [Descriptor(one) for one in ids]


def _length_of(credential_id: str) -> int:
    return len(credential_id) * 3 // 4


def _plausible_length(identifier: str) -> int:
    return _PLAUSIBLE_LENGTHS[_mac(identifier, 0)[0] % len(_PLAUSIBLE_LENGTHS)]


def _made_up(identifier: str, number: int, length: int) -> str:
    return encode(hashlib.shake_256(_mac(identifier, number)).digest(length))


def _mac(identifier: str, number: int) -> bytes:
    # The last key stays the same when an operator adds a key in front.
    message = f"{number}\n{tenancy.active_id()}\n{identifier}"
    return keyring.mac(message, purpose=_PURPOSE, key_id=keyring.ids()[-1])

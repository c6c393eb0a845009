"""The options of WebAuthn ceremonies, as JSON for ``PublicKeyCredential.parse…OptionsFromJSON()``."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from identity.factors import challenges, relying_party
from identity.factors.challenges import Binding, Ceremony
from identity.factors.credential_json import encode
from identity.factors.webauthn import ALGORITHMS

_TIMEOUT: Final = 300_000  # milliseconds; what WebAuthn Level 3 recommends


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

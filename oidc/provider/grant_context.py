"""What a token request is granted: the contents of its tokens."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings

from database import ids
from identity.core import tenancy
from identity.sessions.models import UNKNOWN_AUTH_TIME
from identity.users.models import User
from oidc.applications.models import Application
from oidc.provider.claim_facts import ClaimFacts
from oidc.provider.claims_request import ClaimsRequest
from oidc.provider.scopes import OPENID, PROFILE
from oidc.provider.target import Target


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in of a grant: its session (``sid``), time, authentication methods and context (``acr``).

    ``acr`` is empty in a tenant without second factors.
    """

    session_id: UUID
    auth_time: datetime
    amr: list[str]
    acr: str = ""

    @property
    def claims(self) -> dict[str, Any]:
        """The claims about the sign-in. What is not known is left out."""
        found: dict[str, Any] = {}
        if self.auth_time > UNKNOWN_AUTH_TIME:
            found["auth_time"] = int(self.auth_time.timestamp())
        if self.amr:
            # A sign-in at another provider has none: RFC 8176 has no value for it.
            found["amr"] = self.amr
        if self.acr:
            found["acr"] = self.acr
        return found


def get_consented(
    scopes: tuple[str, ...], *, is_third_party: bool, agreed_to_old_profile: bool
) -> tuple[str, ...] | None:
    """Return the identity scopes that a third party's custom claims may use; None for a first party.

    A consent to the old profile names none of the custom claims that ``profile`` releases.
    """
    if not is_third_party:
        return None
    return tuple(name for name in scopes if name != PROFILE) if agreed_to_old_profile else scopes


@dataclass(frozen=True, slots=True)
class GrantContext:
    """The contents of the access and ID token of one response.

    ``scopes`` are identity scopes, ``claims`` those of the ``claims`` parameter. Without a ``user``, the
    application acts on its own behalf. ``family_id`` is set if the access token belongs to a refresh family.
    ``access_token_key_id`` signs the access token and ``id_token_key_id`` the ID token.
    ``agreed_to_old_profile``: the consent is an old one, which named fewer members of the ``profile``.
    """

    application: Application
    access_token_key_id: UUID
    scopes: tuple[str, ...]
    target: Target
    user: User | None = None
    claims: ClaimsRequest = field(default_factory=ClaimsRequest)
    sign_in: SignIn | None = None
    family_id: UUID | None = None
    nonce: str = ""
    id_token_key_id: UUID | None = None
    agreed_to_old_profile: bool = False
    issuer: str = field(default_factory=lambda: tenancy.active().issuer)
    token_id: str = field(default_factory=ids.new_text)
    issued_at: int = field(default_factory=lambda: int(time.time()))
    facts: ClaimFacts = field(init=False, compare=False)

    @property
    def lifetime(self) -> int:
        """The lifetime of the access token in seconds."""
        return self.target.lifetime

    @property
    def consented_scopes(self) -> tuple[str, ...] | None:
        """The identity scopes that a third party's custom claims may use; None for a first party."""
        return get_consented(
            self.scopes,
            is_third_party=self.application.is_third_party,
            agreed_to_old_profile=self.agreed_to_old_profile,
        )

    @property
    def all_scopes(self) -> tuple[str, ...]:
        """The identity scopes and the scopes of the target."""
        return self.scopes + self.target.scopes

    def __post_init__(self) -> None:
        """Set ``facts``, and remove the scopes whose names mean scopes of the target (``scopes.NEWER``)."""
        if not set(self.target.scopes).isdisjoint(self.scopes):
            own = tuple(name for name in self.scopes if name not in self.target.scopes)
            object.__setattr__(self, "scopes", own)
        object.__setattr__(self, "facts", ClaimFacts(self.user, self.target.organization_id))

    @property
    def access_token_exp(self) -> int:
        """The ``exp`` of the access token."""
        return self.issued_at + self.lifetime

    @property
    def has_id_token(self) -> bool:
        """Whether the response has an ID token."""
        return self.user is not None and OPENID in self.scopes

    @property
    def id_token_exp(self) -> int | None:
        """The ``exp`` of the ID token, or None if the response has none."""
        return self.issued_at + settings.ID_TOKEN_SECONDS if self.has_id_token else None

    @property
    def last_exp(self) -> int:
        """The later ``exp`` of the access token and the ID token."""
        return max(self.access_token_exp, self.id_token_exp or 0)

    @property
    def expires_at(self) -> datetime:
        """When the access token expires."""
        return datetime.fromtimestamp(self.access_token_exp, tz=UTC)

    @property
    def subject(self) -> str:
        """The user or, without a user, the client (RFC 9068 section 5)."""
        return str(self.user.pk) if self.user else self.application.client_id

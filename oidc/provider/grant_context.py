"""What a token request is granted: the contents of its tokens."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings

from database import ids
from identity.core import tenancy
from identity.users.models import User
from oidc.applications.models import Application
from oidc.provider.claims_request import ClaimsRequest
from oidc.provider.scopes import OPENID
from oidc.provider.target import Target


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in of a grant: its session (``sid``), time and authentication methods."""

    session_id: UUID
    auth_time: datetime
    amr: list[str]


@dataclass(frozen=True, slots=True)
class GrantContext:
    """The contents of the access and ID token of one response.

    ``scopes`` are identity scopes, ``claims`` those of the ``claims`` parameter. Without a ``user``, the
    application acts on its own behalf. ``family_id`` is set if the access token belongs to a refresh family.
    """

    application: Application
    key_id: UUID
    scopes: tuple[str, ...]
    target: Target
    user: User | None = None
    claims: ClaimsRequest = field(default_factory=ClaimsRequest)
    sign_in: SignIn | None = None
    family_id: UUID | None = None
    nonce: str = ""
    issuer: str = field(default_factory=lambda: tenancy.active().issuer)
    token_id: str = field(default_factory=lambda: str(ids.new()))
    issued_at: int = field(default_factory=lambda: int(time.time()))

    @property
    def lifetime(self) -> int:
        """The lifetime of the access token in seconds."""
        return self.target.lifetime

    @property
    def all_scopes(self) -> tuple[str, ...]:
        """The identity scopes and the scopes of the target."""
        return self.scopes + self.target.scopes

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

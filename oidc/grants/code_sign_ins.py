"""The sign-in of an authorization code: what was proven when the code was issued.

Meanwhile the user may have signed in again in the session, proven a second factor, or changed the password. A
code gives nothing of that.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from identity.factors.levels import Level
from identity.sessions.models import Session
from oidc.grants.models import AuthorizationCode


@dataclass(frozen=True, slots=True)
class CodeSignIn:
    """The sign-in of a code, with the user's epoch. ``remembered`` is false once the browser is forgotten."""

    session_id: UUID
    user_id: UUID
    epoch: int
    auth_time: datetime
    amr: list[str]
    level: int
    remembered: bool
    signed_in_at: datetime  # of a stored code: when it was issued, which is later

    @classmethod
    def of_session(cls, session: Session) -> Self:
        """Return the sign-in of a code that is issued now in this session."""
        return cls(
            session_id=session.pk,
            user_id=session.user_id,
            epoch=session.epoch,
            auth_time=session.auth_time,
            amr=session.amr,
            level=session.level,
            remembered=session.remembered,
            signed_in_at=session.signed_in_at,
        )

    @classmethod
    def of_code(cls, code: AuthorizationCode) -> Self:
        """Return the sign-in of a code whose session was read too.

        A code of release 0.5.0 has no columns for it: then the sign-in is that of the session.
        """
        session = code.session
        if code.epoch is None or code.auth_time is None or code.amr is None or code.level is None:
            return cls.of_session(session)
        # A node of release 0.5.0 forgets browsers in sessions only. A second factor that is proven later
        # changes the session, too, but does not forget the browser.
        is_forgotten = not session.remembered and session.level <= Level.ONE
        return cls(
            session_id=code.session_id,
            user_id=code.user_id,
            epoch=code.epoch,
            auth_time=code.auth_time,
            amr=code.amr,
            level=code.level,
            remembered=bool(code.remembered) and not is_forgotten,
            signed_in_at=code.created_at,
        )


def get_columns(session: Session) -> dict[str, Any]:
    """Return the columns of a new code with the sign-in of its session."""
    return {name: getattr(session, name) for name in ("epoch", "auth_time", "amr", "level", "remembered")}


def is_current() -> Q:
    """Return the condition that a code was issued in the current epoch of its user and of its session."""
    of_code = Coalesce("epoch", "session__epoch")  # null if release 0.5.0 issued the code
    return Q(user__epoch=F("session__epoch")) & Q(user__epoch=of_code)

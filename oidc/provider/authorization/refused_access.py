"""The audit entry of a user who may not use the application (decision Q11)."""

from typing import Final

from audit import log
from audit.events import Event
from identity.limits import services as limits
from identity.limits.rules import Limit
from identity.sessions.models import Session
from oidc.applications.models import Application

# A user can repeat a request without limit, and audit entries are kept.
_RECORDED: Final = Limit("refused applications", 10, 3600)


def record(application: Application, session: Session) -> None:
    """Record that the user of a session may not use the application, at most ten times an hour."""
    if limits.increment(_RECORDED, f"{session.user_id} {application.pk}").count > _RECORDED.max_hits:
        return
    log.record(
        Event.APPLICATION_REFUSE,
        user_id=session.user_id,
        application_id=application.pk,
        result="failed",
        error="no_access",
        session_id=session.pk,
    )

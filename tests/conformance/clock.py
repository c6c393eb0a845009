"""Time that passes between two steps: really in the long rounds, else what was stored moves into the past."""

import os
import time
from datetime import timedelta

from django.db.models import F

from identity.core import tenancy
from identity.sessions.models import Session
from oidc.grants.models import AuthorizationCode, RefreshFamily

_STORED = (
    (Session, ("auth_time", "last_used_at", "expires_at")),
    (AuthorizationCode, ("consumed_at", "expires_at", "access_token_expires_at")),
    (RefreshFamily, ("auth_time", "rotated_at", "idle_expires_at", "expires_at")),
)


class Clock:
    """``moved`` is how many seconds the past was moved by so far."""

    def __init__(self) -> None:
        self.moved = 0

    def wait(self, seconds: int) -> None:
        """Let this much time pass."""
        if "GATEHOUSE_THOROUGH" in os.environ:
            time.sleep(seconds)
            return
        self.moved += seconds
        with tenancy.using(tenancy.EVERYWHERE):
            for model, fields in _STORED:
                model.objects.update(**{name: F(name) - timedelta(seconds=seconds) for name in fields})

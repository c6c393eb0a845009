"""Sessions of the operators' site, changed behind its back."""

import time
from typing import Any

from django.conf import settings

from identity.operator_kit import fresh_proof
from management.site.sessions import SessionStore


def age(operator: Any, seconds: int = settings.CONFIRM_SECONDS + 1) -> None:
    """Let the administrator have proven this long ago who it is."""
    store = SessionStore(session_key=operator.http.cookies[settings.SESSION_COOKIE_NAME])
    store[fresh_proof._KEY] = int(time.time()) - seconds
    store.save()

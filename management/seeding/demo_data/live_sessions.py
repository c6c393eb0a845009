"""Live sessions of made-up users. No browser has them, because their secrets are not kept."""

import secrets
from datetime import timedelta
from typing import Final

from django.conf import settings

from audit.events import Event
from audit.models import Entry
from identity.factors.levels import Level
from identity.sessions.models import Session
from identity.users.models import User
from management.seeding.demo_data import history
from management.seeding.demo_data.history import DemoSubjects

_IDLE: Final = timedelta(seconds=settings.SESSION_IDLE_SECONDS)
_ABSOLUTE: Final = timedelta(seconds=settings.SESSION_ABSOLUTE_SECONDS)
_AMR: Final = {Event.SIGN_IN_PASSWORD.value: ["pwd"], Event.SIGN_IN_CODE.value: ["otp"]}


def create(subjects: DemoSubjects) -> None:
    """Create a live session of the latest sign-in of each user who signed in recently and has none."""
    latest = {
        entry.user_id: entry for entry in history.get_sign_ins(subjects, since=subjects.now - _ABSOLUTE / 2)
    }
    present = set(Session.objects.live().values_list("user_id", flat=True))
    Session.objects.bulk_create(
        _new(subjects, user, latest[str(user.pk)])
        for user in subjects.people.values()
        if str(user.pk) in latest and user.pk not in present and not user.is_suspended
    )


def _new(subjects: DemoSubjects, user: User, sign_in: Entry) -> Session:
    age = subjects.now - sign_in.created_at
    second = {"level": Level.TWO, "second_factor_at": sign_in.created_at} if user.factors else {}
    return Session(
        user=user,
        token_hash=secrets.token_hex(32),
        epoch=user.epoch,
        amr=[*_AMR.get(sign_in.key, []), *(["otp", "mfa"] if user.factors else [])],
        auth_time=sign_in.created_at,
        last_used_at=subjects.now - age % (_IDLE / 2),
        expires_at=sign_in.created_at + _ABSOLUTE,
        ip=sign_in.ip,
        user_agent=history.get_browser(subjects, sign_in),
        **second,
    )

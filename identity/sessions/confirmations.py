"""What a user proves again in a session, to confirm a change, and what continues after it."""

import secrets

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.sessions.models import Session
from identity.sessions.services import hash_token
from identity.users.models import User


@transaction.atomic
def step_up(session: Session, *, amr: list[str], level: int) -> str | None:
    """Store that the user proved a second factor in a session, and return the new secret for its cookie.

    The session keeps its id and the time of its sign-in. None if it has ended meanwhile.
    """
    token, now = secrets.token_urlsafe(32), timezone.now()
    changes = {"amr": amr, "level": level, "second_factor_at": now, "remembered": False}
    live = Session.objects.filter(pk=session.pk, ended_at=None)
    if not live.update(token_hash=hash_token(token), **changes):
        return None
    for name, value in changes.items():
        setattr(session, name, value)
    log.record(Event.SESSION_STEP_UP, user_id=session.user_id, session_id=session.pk, level=level)
    return token


def record_password(session: Session) -> str | None:
    """Store that the user entered the password in a session, and return the new secret for its cookie.

    None if the session has ended meanwhile.
    """
    token, now = secrets.token_urlsafe(32), timezone.now()
    changes = {"token_hash": hash_token(token), "password_confirmed_at": now}
    if not Session.objects.filter(pk=session.pk, ended_at=None).update(**changes):
        return None
    session.password_confirmed_at = now
    return token


def renew(session: Session) -> str:
    """Move a session to the new epoch of its user, and return the new secret for its cookie.

    A session that was ended meanwhile stays ended, and the secret is invalid.
    """
    token = secrets.token_urlsafe(32)
    epoch = User.objects.values_list("epoch", flat=True).get(pk=session.user_id)
    Session.objects.filter(pk=session.pk, ended_at=None).update(epoch=epoch, token_hash=hash_token(token))
    session.user.epoch = epoch
    return token

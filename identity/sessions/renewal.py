"""New secrets for a session that continues: its user proves something again, or ends the other sessions."""

import secrets
from typing import Final

from audit import log
from audit.events import Event
from database import chains
from database.chains import Chain
from database.clock import DatabaseNow
from database.parameters import Parameter
from identity.core.tenant_statements import Update, number, text, uuid
from identity.sessions.models import Session
from identity.sessions.services import Ended, hash_token
from identity.users.models import User

_step_up: Final = Update(
    lambda: Session.objects.filter(pk=uuid("pk"), ended_at=None),
    token_hash=text("token_hash"),
    amr=Parameter("amr", Session._meta.get_field("amr")),
    level=number("level"),
    second_factor_at=DatabaseNow(),
    remembered=False,
)


def step_up(
    session: Session,
    *,
    amr: list[str],
    level: int,
    refusal: type[Exception] = Ended,
    chain: Chain | None = None,
) -> str:
    """Store that the user proved a second factor in a session, and return the new secret for its cookie.

    The session keeps its id and the time of its sign-in.

    Raises:
        Exception: ``refusal``; the session has ended meanwhile.

    """
    token = secrets.token_urlsafe(32)
    changes = {"amr": amr, "level": level, "second_factor_at": session.now}
    values = {"pk": session.pk, "token_hash": hash_token(token), **changes}
    with chains.joined(chain) as writes:
        writes.add(_step_up, values, refusal=refusal)
        log.record(Event.SESSION_STEP_UP, writes, user_id=session.user_id, session_id=session.pk, level=level)
        writes.then(lambda: vars(session).update(changes, remembered=False))
    return token


def record_password(session: Session) -> str | None:
    """Store that the user entered the password in a session, and return the new secret for its cookie.

    Return None if the session has ended meanwhile.
    """
    token = secrets.token_urlsafe(32)
    changes = {"token_hash": hash_token(token), "password_confirmed_at": DatabaseNow()}
    if not Session.objects.filter(pk=session.pk, ended_at=None).update(**changes):
        return None
    session.password_confirmed_at = session.now
    return token


def renew(session: Session) -> str | None:
    """Move a session to the new epoch of its user, and return the new secret for its cookie.

    Return None if the session has ended meanwhile.
    """
    token = secrets.token_urlsafe(32)
    epoch = User.objects.values_list("epoch", flat=True).get(pk=session.user_id)
    live = Session.objects.filter(pk=session.pk, ended_at=None)
    if not live.update(epoch=epoch, token_hash=hash_token(token)):
        return None
    session.user.epoch = epoch
    return token

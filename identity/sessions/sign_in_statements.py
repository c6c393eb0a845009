"""The statements that store a sign-in in a session.

The times are those of the database, which nodes share. Otherwise, a session of a node whose clock is ahead
would live longer than others.
"""

from typing import Any, Final

from django.db.models import Case, DateTimeField, ExpressionWrapper, When
from django.db.models.functions import Coalesce, Least

from database.clock import DatabaseNow
from database.parameters import Parameter
from database.statements import Insert
from identity.core.tenant_statements import Update, duration, flag, moment, uuid
from identity.sessions.models import Session

_GIVEN: Final = ("token_hash", "epoch", "amr", "ip", "user_agent", "keep_signed_in", "level", "remembered")


def _get_times() -> dict[str, Any]:
    """Return the columns with times.

    ``authenticated_at`` may be null, for now, and ``lasts`` is the lifetime of the session. ``has_factor``
    says that a second factor was just proven.
    """
    return {
        "auth_time": Least(Coalesce(moment("authenticated_at"), DatabaseNow()), DatabaseNow()),
        "last_used_at": DatabaseNow(),
        "expires_at": ExpressionWrapper(DatabaseNow() + duration("lasts"), DateTimeField()),
        # A sign-out compares it with ``iat`` of ID tokens, which has the time of a node. The ``iat`` of a
        # node whose clock is behind must not be earlier than this column, so it has the earlier time.
        "updated_at": Least(moment("updated_at"), DatabaseNow()),
        "second_factor_at": Case(
            When(flag("has_factor"), then=DatabaseNow()), default=moment("second_factor_at")
        ),
    }


BEGIN: Final = Insert(Session, including=("level", "remembered"), **_get_times())
CONTINUE: Final = Update(
    lambda: Session.objects.filter(pk=uuid("id"), ended_at=None),
    **{
        field.name: Parameter(field.attname, field)
        for field in Session._meta.local_concrete_fields
        if field.name in _GIVEN
    },
    **_get_times(),
)

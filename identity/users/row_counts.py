"""The stored numbers of users of each tenant, in total and by day: see ``database.row_counts``."""

from datetime import UTC, datetime, time
from typing import Final

from django.db.models import F, Subquery, Sum, Window
from django.db.models.functions import Coalesce

from database.row_counts import RowCount
from identity.core.tenant_statements import SelectValues
from identity.users.models import UserCount, UserDayCount

USERS: Final = RowCount("users_user", "users_usercount", "users", "tenants_tenant", {"tenant_id": "id"})
USERS_BY_DAY: Final = RowCount(
    "users_user", "users_userdaycount", "users", "tenants_tenant", {"tenant_id": "id"}, day_of="created_at"
)

_shards: Final = SelectValues(lambda: UserCount.objects.values_list("users"))


def count_users() -> int:
    """Return the exact number of users of the active tenant."""
    return sum(users for (users,) in _shards.all())


def user_count_expression() -> Coalesce:
    """Return an expression for the number of users of the active tenant."""
    shards = UserCount.objects.order_by().values("tenant")
    return Coalesce(Subquery(shards.annotate(total=Sum("users")).values("total")), 0)


def find_page_start(skipped: int, total: int) -> tuple[datetime, int] | None:
    """Return the start of the earliest day with only newer users than a page, and how many older to skip.

    ``skipped`` is the number of users who are newer than the page, ``total`` the number of all users. Return
    None if no day has only newer users, or if the numbers of the days do not add up to ``total``.
    """
    newer = Window(Sum("users"), order_by=F("day").desc())  # on this day or later
    days = UserDayCount.objects.annotate(newer=newer, every=Window(Sum("users")))
    found = days.filter(newer__lte=skipped, every=total).order_by("day").values_list("day", "newer").first()
    return found and (datetime.combine(found[0], time.min, UTC), skipped - int(found[1]))

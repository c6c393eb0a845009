"""The stored number of users of each tenant: see ``database.row_counts``."""

from typing import Final

from django.db.models import Subquery, Sum
from django.db.models.functions import Coalesce

from database.row_counts import RowCount
from identity.core.tenant_statements import SelectValues
from identity.users.models import UserCount

USERS: Final = RowCount("users_user", "users_usercount", "users", "tenants_tenant", {"tenant_id": "id"})

_shards: Final = SelectValues(lambda: UserCount.objects.values_list("users"))


def count_users() -> int:
    """Return the exact number of users of the active tenant."""
    return sum(users for (users,) in _shards.all())


def user_count_expression() -> Coalesce:
    """Return an expression for the number of users of the active tenant."""
    shards = UserCount.objects.order_by().values("tenant")
    return Coalesce(Subquery(shards.annotate(total=Sum("users")).values("total")), 0)

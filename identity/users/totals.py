"""The number of each tenant's users, which triggers keep."""

from typing import Final

from django.db.models import Subquery, Sum
from django.db.models.functions import Coalesce

from database.row_counts import RowCount
from identity.core.tenant_statements import Tuples
from identity.users.models import UserCount

USERS: Final = RowCount("users_user", "users_usercount", "users", "tenants_tenant", {"tenant_id": "id"})

_parts: Final = Tuples(lambda: UserCount.objects.values_list("users"))


def users() -> int:
    """Return how many users the active tenant has, exactly, however many they are."""
    return sum(users for (users,) in _parts.all())


def of_tenant() -> Coalesce:
    """Return the same as a part of a query."""
    parts = UserCount.objects.order_by().values("tenant")
    return Coalesce(Subquery(parts.annotate(total=Sum("users")).values("total")), 0)

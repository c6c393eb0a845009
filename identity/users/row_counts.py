"""The number of users of each tenant, which triggers update."""

from typing import Final

from django.db.models import Subquery, Sum
from django.db.models.functions import Coalesce

from database.row_counts import RowCount
from identity.core.tenant_statements import SelectValues
from identity.users.models import UserCount

USERS: Final = RowCount("users_user", "users_usercount", "users", "tenants_tenant", {"tenant_id": "id"})

_parts: Final = SelectValues(lambda: UserCount.objects.values_list("users"))


def count_users() -> int:
    """Return the exact number of users of the active tenant."""
    return sum(users for (users,) in _parts.all())


def user_count_expression() -> Coalesce:
    """Return the number of users of the active tenant, as an expression for a query."""
    parts = UserCount.objects.order_by().values("tenant")
    return Coalesce(Subquery(parts.annotate(total=Sum("users")).values("total")), 0)

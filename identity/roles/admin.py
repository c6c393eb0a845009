"""System roles, for operators to read."""

from typing import Any

from django.contrib import admin

from identity.core.admin import Pages, beside, link
from identity.core.operations import SHOWN, Panel
from identity.resources.models import Scope
from identity.roles import services
from identity.roles.models import Role, RoleScope
from identity.users.models import User


@admin.register(Role)
class RoleAdmin(Pages):
    """System roles, what they hold and who has them."""

    section = "Access"
    title = "Roles"
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    shown = ("id", "name", "type", "description", "is_protected", "created_at", "updated_at")

    def panels(self, request: Any, row: Role) -> list[Panel]:
        """Show the scopes it holds and the people who have it."""
        held = RoleScope.objects.filter(role=row).values("scope_id")
        scopes = list(
            Scope.objects.filter(pk__in=held).select_related("resource").order_by("name")[: SHOWN + 1]
        )
        shown = [
            Panel(
                "Scopes", ("Scope", "API resource"),
                [(scope.name, link(scope.resource)) for scope in scopes[:SHOWN]], cut=len(scopes) > SHOWN,
            )
        ]  # fmt: skip
        if row.type == Role.Type.USER:
            people = list(services.USERS.of(row.pk)[: SHOWN + 1])
            rows = [(link(user), user.email) for user in people[:SHOWN]]
            shown.append(Panel("Users", ("User", "Email"), rows, cut=len(people) > SHOWN))
        return [*shown, *super().panels(request, row)]


@beside(User)
def _of_user(user: User) -> list[Panel]:
    roles = list(services.OF_USER.of(user.pk)[: SHOWN + 1])
    rows = [(link(role, role.name), role.description) for role in roles[:SHOWN]]
    return [Panel("Roles", ("Role", "Description"), rows, cut=len(roles) > SHOWN)]

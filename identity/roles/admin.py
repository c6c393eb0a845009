"""System roles on the operators' site."""

from typing import Any

from django import forms
from django.contrib import admin

from identity.operator_kit import crud
from identity.operator_kit.offering import upon
from identity.operator_kit.operations import SHOWN, Operation, Order, Panel, checked
from identity.operator_kit.pages import Pages, beside, link
from identity.resources.forms import ScopesForm
from identity.resources.models import Scope
from identity.roles import services
from identity.roles.models import Role, RoleScope
from identity.roles.serializers import RoleSerializer
from identity.users.models import User


class NameForm(forms.Form):
    """The name and description of a role."""

    name = forms.CharField(max_length=256)
    description = forms.CharField(required=False, max_length=1024, widget=forms.Textarea({"rows": 2}))


class NewRoleForm(NameForm):
    """A new role."""

    type = forms.ChoiceField(choices=Role.Type.choices, help_text="Whom it can be given to, for ever.")

    field_order = ("name", "type", "description")


def _roles_for_users() -> list[tuple[str, str]]:
    roles = Role.objects.filter(type=Role.Type.USER).order_by("name")
    return [(str(pk), name) for pk, name in roles.values_list("pk", "name")]


class RolesForm(forms.Form):
    """The roles of a user."""

    role_ids = forms.MultipleChoiceField(
        label="Roles", required=False, choices=_roles_for_users, widget=forms.CheckboxSelectMultiple
    )


def _change(order: Order) -> str:
    services.change(order.row, checked(RoleSerializer, order.fields, order.row), expected=order.expected)
    return "The role is changed."


def _remove(order: Order) -> str:
    services.remove(order.row, expected=order.expected)
    return "The role is deleted."


@admin.register(Role)
class RoleAdmin(Pages):
    """System roles, their scopes and users."""

    section = "Access"
    title = "Roles"
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    shown = ("id", "name", "type", "description", "is_protected", "created_at", "updated_at")

    operations = (
        Operation(
            "change", "Edit", "Tokens name roles: applications may look for this name.", _change,
            form=NameForm, initial=lambda role: {"name": role.name, "description": role.description},
        ),
        Operation(
            "scopes", "Choose scopes",
            "What is not ticked is taken away. Tokens that are out keep what they have until they expire.",
            lambda order: crud.assign(services.SCOPES, order, "scope_ids"), form=ScopesForm,
            initial=lambda role: {"scope_ids": crud.assigned(services.SCOPES, role)},
        ),
        Operation(
            "delete", "Delete", "Whoever had it has it no more.", _remove,
            possible=lambda role: not role.is_protected, grave=True,
        ),
        Operation(
            "create", "New role", "It holds nothing at first.",
            lambda order: crud.create(Role, RoleSerializer, order), form=NewRoleForm, row_needed=False,
        ),
    )  # fmt: skip

    def panels(self, request: Any, row: Role) -> list[Panel]:
        """Show the scopes and users of the role."""
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
            people = list(services.USERS.items_of(row.pk)[: SHOWN + 1])
            rows = [(link(user), user.email) for user in people[:SHOWN]]
            shown.append(Panel("Users", ("User", "Email"), rows, cut=len(people) > SHOWN))
        return [*shown, *super().panels(request, row)]


@beside(User)
def _of_user(user: User) -> list[Panel]:
    roles = list(services.USER_ROLES.items_of(user.pk)[: SHOWN + 1])
    rows = [(link(role, role.name), role.description) for role in roles[:SHOWN]]
    return [Panel("Roles", ("Role", "Description"), rows, cut=len(roles) > SHOWN)]


upon(
    User,
    Operation(
        "roles", "Choose roles", "What is not ticked is taken away. Tokens that are out keep what they have.",
        lambda order: crud.assign(services.USER_ROLES, order, "role_ids"), form=RolesForm,
        initial=lambda user: {"role_ids": crud.assigned(services.USER_ROLES, user)},
        needs="roles.change_role",
    ),
)  # fmt: skip

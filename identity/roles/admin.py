"""System roles on the operators' site."""

from functools import partial
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.operator_kit import crud
from identity.operator_kit.extensions import register_operations, register_panels
from identity.operator_kit.name_form import NameForm
from identity.operator_kit.operations import Operation, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.resources.forms import ScopesForm
from identity.resources.models import Scope
from identity.roles import services, users_admin
from identity.roles.models import Role, RoleScope
from identity.roles.serializers import RoleSerializer
from identity.users.models import User

# The labels of columns, which ``get_label`` builds from their names.
_LABELS: Final = (gettext_noop("Protected"),)


class NewRoleForm(NameForm):
    """A new role."""

    type = forms.ChoiceField(
        label=_("Type"),
        choices=Role.Type.choices,
        help_text=_("Who can have the role. It cannot be changed later."),
    )

    field_order = ("name", "type", "description")


def _roles_for_users() -> list[tuple[str, str]]:
    roles = Role.objects.filter(type=Role.Type.USER).order_by("name")
    return [(str(pk), name) for pk, name in roles.values_list("pk", "name")]


class RolesForm(forms.Form):
    """The roles of a user."""

    role_ids = forms.MultipleChoiceField(
        label=_("Roles"), required=False, choices=_roles_for_users, widget=forms.CheckboxSelectMultiple
    )


def _change(submission: Submission) -> str:
    fields = validate(RoleSerializer, submission.fields, submission.row)
    services.change(submission.row, fields, expected=submission.expected)
    return gettext("The role is changed.")


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return gettext("The role is deleted.")


@admin.register(Role)
class RoleAdmin(Pages):
    """System roles, their scopes and users."""

    section = "API resources & roles"
    place = 2
    title = _("Roles")
    empty = _("A role holds scopes, and users or machine applications have roles.")
    list_display = ("name", "type", "description", "created_at")
    list_filter = ("type",)
    search_fields = ("name", "description")
    fields = ("id", "name", "type", "description", "is_protected", "created_at", "updated_at")

    operations = (
        Operation(
            "change", _("Edit role"), _("Tokens contain this name, so applications may depend on it."),
            _change, form=NameForm, initial=lambda role: {"name": role.name, "description": role.description},
            sentence=_("Edit {name}"), edits=_("Details"),
        ),
        Operation(
            "scopes", _("Choose scopes"),
            _("Scopes that are not selected are removed from the role. Issued tokens keep theirs."),
            partial(crud.assign, services.SCOPES, "scope_ids"), form=ScopesForm,
            initial=partial(crud.get_assigned, services.SCOPES, "scope_ids"),
            needs_proof=lambda role: role.type == Role.Type.MACHINE,
        ),
        *users_admin.OPERATIONS,
        Operation(
            "delete", _("Delete role"), _("Removes the role from all users and applications."), _remove,
            is_possible=lambda role: not role.is_protected, is_destructive=True, impact=impacts.measure,
            sentence=_("Delete {name}"),
        ),
        Operation(
            "create", _("Create role"), _("A new role has no scopes."),
            partial(crud.create, Role, RoleSerializer), form=NewRoleForm, needs_row=False,
        ),
    )  # fmt: skip

    def get_panels(self, request: Any, row: Role) -> list[Panel]:
        """Return the panels of the role's scopes and users, and those of other apps."""
        held = RoleScope.objects.filter(role=row).values("scope_id")
        scopes = Scope.objects.filter(pk__in=held).select_related("resource").order_by("name")
        panels = [
            build_panel(
                gettext("Scopes"),
                (gettext("Scope"), gettext("API resource")),
                scopes,
                lambda scope: (scope.name, link(scope.resource)),
            )
        ]
        if row.type == Role.Type.USER:
            users = services.USERS.items_of(row.pk)
            panels.append(
                build_panel(
                    gettext("Users"),
                    (gettext("User"), gettext("Email")),
                    users,
                    lambda user: (link(user), user.email),
                )
            )
        return [*panels, *super().get_panels(request, row)]


def _build_user_panels(user: User) -> list[Panel]:
    roles = services.USER_ROLES.items_of(user.pk)
    return [
        build_panel(
            gettext("Roles"),
            (gettext("Role"), gettext("Description")),
            roles,
            lambda role: (link(role, role.name), role.description),
            operation="roles",
        )
    ]


register_panels(User, _build_user_panels)
register_operations(
    User,
    Operation(
        "roles", _("Choose roles"),
        _("Roles that are not selected are removed from the user. Issued tokens stay as they are."),
        partial(crud.assign, services.USER_ROLES, "role_ids"), form=RolesForm,
        initial=partial(crud.get_assigned, services.USER_ROLES, "role_ids"),
        permission="roles.change_role", sentence=_("Choose roles of {name}"),
    ),
)  # fmt: skip

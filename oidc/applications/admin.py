"""Applications, for operators. A secret is shown once, when it is created."""

from typing import Any

from django import forms
from django.contrib import admin

from identity.operator_kit import crud
from identity.operator_kit.operations import SHOWN, Once, Operation, Order, Panel, checked
from identity.operator_kit.pages import Pages, beside, link
from identity.operator_kit.timestamps import text
from identity.organizations.models import Organization
from identity.roles.models import Role
from oidc.applications import bindings, services
from oidc.applications.models import PUBLIC_TYPES, Application, OrganizationApplication
from oidc.applications.serializers import ApplicationSerializer

_URIS = ("redirect_uris", "post_logout_redirect_uris")
_HELP = "One per line."


class SettingsForm(forms.Form):
    """The name, redirect URIs and policies of an application."""

    name = forms.CharField(max_length=256)
    description = forms.CharField(required=False, max_length=1024, widget=forms.Textarea({"rows": 2}))
    redirect_uris = forms.CharField(
        label="Redirect URIs", required=False, help_text=_HELP, widget=forms.Textarea({"rows": 4})
    )
    post_logout_redirect_uris = forms.CharField(
        label="Redirect URIs after sign-out",
        required=False,
        help_text=_HELP,
        widget=forms.Textarea({"rows": 3}),
    )
    is_third_party = forms.BooleanField(
        required=False, label="Third party", help_text="People are asked before it learns anything."
    )
    require_pkce = forms.BooleanField(
        required=False,
        label="Require PKCE",
        help_text="SPA and Native applications always use PKCE.",
    )


class NewApplicationForm(SettingsForm):
    """A new application."""

    type = forms.ChoiceField(choices=Application.Type.choices)

    field_order = ("name", "type")


def _machine_roles() -> list[tuple[str, str]]:
    found = Role.objects.filter(type=Role.Type.MACHINE).order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in found]


class RolesForm(forms.Form):
    """The system roles of a machine application."""

    role_ids = forms.MultipleChoiceField(
        label="Roles", required=False, choices=_machine_roles, widget=forms.CheckboxSelectMultiple
    )


def _api_fields(order: Order) -> dict[str, Any]:
    """Return the fields of a form in the form that the API's serializer takes."""
    fields = dict(order.fields)
    metadata = {name: fields.pop(name).split() for name in _URIS}
    application_type = fields.get("type") or order.row.type
    # An unticked box must not turn PKCE off for types that always use it.
    require_pkce = fields.pop("require_pkce") or application_type in PUBLIC_TYPES
    return fields | {"oidc_client_metadata": metadata | {"require_pkce": require_pkce}}


def _create(order: Order) -> Once:
    application, secret = services.register(**checked(ApplicationSerializer, _api_fields(order)))
    return Once(
        f"{application.name} is registered.", {"Client id": application.client_id, "Client secret": secret}
    )


def _change(order: Order) -> str:
    fields = checked(ApplicationSerializer, _api_fields(order), order.row)
    services.change(order.row, fields, expected=order.expected)
    return "The application is changed."


def _rotate(order: Order) -> Once:
    secret = services.rotate_secret(order.row)
    return Once(
        "The old secret has stopped working.", {"Client id": order.row.client_id, "Client secret": secret}
    )


def _remove(order: Order) -> str:
    services.remove(order.row, expected=order.expected)
    return "The application is deleted."


def _initial(application: Application) -> dict[str, Any]:
    shown = {name: getattr(application, name) for name in ("name", "description", "is_third_party")}
    shown["require_pkce"] = application.must_use_pkce
    return shown | {name: "\n".join(getattr(application, name)) for name in _URIS}


@admin.register(Application)
class ApplicationAdmin(Pages):
    """Applications."""

    section = "Applications"
    list_display = ("name", "type", "client_id", "is_third_party", "created_at")
    list_filter = ("type", "is_third_party")
    search_fields = ("name", "description", "client_id")
    log_filter = "application_id"
    shown = (
        "id", "name", "type", "client_id", "description", "is_third_party", "pkce", "redirects",
        "redirects_after", "grants", "created_at", "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "change", "Edit", "Addresses are compared character by character.", _change, form=SettingsForm,
            initial=_initial,
        ),
        Operation(
            "roles", "Choose roles",
            "Decides its scopes. Roles that are not ticked are removed, from the next request on.",
            lambda order: crud.assign(bindings.ROLES, order, "role_ids"), form=RolesForm,
            initial=lambda row: {"role_ids": crud.assigned(bindings.ROLES, row)},
            possible=lambda row: row.type == Application.Type.MACHINE,
        ),
        Operation(
            "secret", "New secret",
            "The old secret stops working at once: no tokens until the application has the new one.",
            _rotate, grave=True,
        ),
        Operation(
            "delete", "Delete", "Its id, its secret and all its tokens stop working at once.", _remove,
            grave=True,
        ),
        Operation(
            "create", "New application", "Its secret is shown once, on the page after this one.", _create,
            form=NewApplicationForm, row_needed=False,
        ),
    )  # fmt: skip

    @admin.display(description="Redirect URIs")
    def redirects(self, application: Application) -> str:
        """Return the redirect URIs, one per line."""
        return "\n".join(application.redirect_uris) or "-"

    @admin.display(description="Redirect URIs after sign-out")
    def redirects_after(self, application: Application) -> str:
        """Return the redirect URIs after sign-out, one per line."""
        return "\n".join(application.post_logout_redirect_uris) or "-"

    @admin.display(description="Requires PKCE", boolean=True)
    def pkce(self, application: Application) -> bool:
        """Whether an authorization request without a code challenge is refused."""
        return application.must_use_pkce

    @admin.display(description="Grants")
    def grants(self, application: Application) -> str:
        """Return the grant types."""
        return ", ".join(application.grant_types)

    def panels(self, request: Any, row: Application) -> list[Panel]:
        """Return the panels; a machine application has its roles and organizations too."""
        if row.type != Application.Type.MACHINE:
            return super().panels(request, row)
        roles = [
            (link(role, role.name), role.description) for role in bindings.ROLES.items_of(row.pk)[:SHOWN]
        ]
        bound = OrganizationApplication.objects.filter(application=row).select_related("organization")
        rows = [
            (link(binding.organization), text(binding.created_at))
            for binding in bound.order_by("-created_at")[:SHOWN]
        ]
        return [
            Panel("Roles", ("Role", "Description"), roles),
            Panel("Organizations", ("Organization", "Bound"), rows),
            *super().panels(request, row),
        ]


@beside(Organization)
def _organization_panels(organization: Organization) -> list[Panel]:
    bound = OrganizationApplication.objects.filter(organization=organization).select_related("application")
    rows = [
        (link(binding.application), text(binding.created_at))
        for binding in bound.order_by("-created_at")[:SHOWN]
    ]
    return [Panel("Applications", ("Application", "Bound"), rows)]


@beside(Role)
def _role_panels(role: Role) -> list[Panel]:
    if role.type != Role.Type.MACHINE:
        return []
    rows = [
        (link(application), application.client_id)
        for application in bindings.OF_ROLE.items_of(role.pk)[:SHOWN]
    ]
    return [Panel("Applications", ("Application", "Client id"), rows)]

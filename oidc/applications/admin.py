"""Applications, for operators. A secret is shown once, when it is created."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin

from identity.operator_kit import crud
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.operations import Operation, ShowSecrets, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.timestamps import format_utc
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
        required=False,
        label="Third party",
        help_text="Users are asked for consent before the application receives their data.",
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
    roles = Role.objects.filter(type=Role.Type.MACHINE).order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in roles]


class RolesForm(forms.Form):
    """The system roles of a machine application."""

    role_ids = forms.MultipleChoiceField(
        label="Roles", required=False, choices=_machine_roles, widget=forms.CheckboxSelectMultiple
    )


def _api_fields(submission: Submission) -> dict[str, Any]:
    """Return the submitted fields as the API's serializer takes them."""
    fields = dict(submission.fields)
    metadata = {name: fields.pop(name).split() for name in _URIS}
    application_type = fields.get("type") or submission.row.type
    # An unticked box must not turn PKCE off for types that always use it.
    require_pkce = fields.pop("require_pkce") or application_type in PUBLIC_TYPES
    return fields | {"oidc_client_metadata": metadata | {"require_pkce": require_pkce}}


def _create(submission: Submission) -> ShowSecrets:
    application, secret = services.register(**validate(ApplicationSerializer, _api_fields(submission)))
    secrets = {"Client ID": application.client_id, "Client secret": secret}
    return ShowSecrets(f"{application.name} is created.", secrets)


def _change(submission: Submission) -> str:
    fields = validate(ApplicationSerializer, _api_fields(submission), submission.row)
    services.change(submission.row, fields, expected=submission.expected)
    return "The application is changed."


def _rotate(submission: Submission) -> ShowSecrets:
    secret = services.rotate_secret(submission.row)
    secrets = {"Client ID": submission.row.client_id, "Client secret": secret}
    return ShowSecrets("The old secret has stopped working.", secrets)


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return "The application is deleted."


def _initial(application: Application) -> dict[str, Any]:
    fields = {name: getattr(application, name) for name in ("name", "description", "is_third_party")}
    fields["require_pkce"] = application.must_use_pkce
    return fields | {name: "\n".join(getattr(application, name)) for name in _URIS}


@admin.register(Application)
class ApplicationAdmin(Pages):
    section = "Applications"
    list_display = ("name", "type", "client_id", "is_third_party", "created_at")
    list_filter = ("type", "is_third_party")
    search_fields = ("name", "description", "client_id")
    log_filter = "application_id"
    fields = (
        "id", "name", "type", "client_id", "description", "is_third_party", "pkce", "redirects",
        "redirects_after", "grants", "created_at", "updated_at",
    )  # fmt: skip
    operations = (
        Operation(
            "change", "Edit application",
            "Redirect URIs are compared character by character.", _change, form=SettingsForm,
            initial=_initial,
        ),
        Operation(
            "roles", "Choose roles",
            "The roles decide the scopes. Roles that are not selected are removed, from the next request on.",
            partial(crud.assign, bindings.ROLES, "role_ids"), form=RolesForm,
            initial=partial(crud.get_assigned, bindings.ROLES, "role_ids"),
            is_possible=lambda row: row.type == Application.Type.MACHINE,
        ),
        Operation(
            "secret", "Create new secret",
            "The old secret stops working at once. The application gets no tokens until it has the new one.",
            _rotate, is_destructive=True,
        ),
        Operation(
            "delete", "Delete application",
            "The client ID, the secret and all tokens stop working at once.", _remove,
            is_destructive=True,
        ),
        Operation(
            "create", "Create application", "The client secret is shown once, on the next page.", _create,
            form=NewApplicationForm, needs_row=False,
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

    def get_panels(self, request: Any, row: Application) -> list[Panel]:
        """Return the panels; a machine application has its roles and organizations too."""
        if row.type != Application.Type.MACHINE:
            return super().get_panels(request, row)
        bound = OrganizationApplication.objects.filter(application=row).order_by("-created_at")
        return [
            build_panel(
                "Roles", ("Role", "Description"), bindings.ROLES.items_of(row.pk),
                lambda role: (link(role, role.name), role.description),
            ),
            build_panel(
                "Organizations", ("Organization", "Bound"), bound.select_related("organization"),
                lambda binding: (link(binding.organization), format_utc(binding.created_at)),
            ),
            *super().get_panels(request, row),
        ]  # fmt: skip


def _build_organization_panels(organization: Organization) -> list[Panel]:
    bound = OrganizationApplication.objects.filter(organization=organization).order_by("-created_at")
    return [
        build_panel(
            "Applications", ("Application", "Bound"), bound.select_related("application"),
            lambda binding: (link(binding.application), format_utc(binding.created_at)),
        )
    ]  # fmt: skip


def _build_role_panels(role: Role) -> list[Panel]:
    if role.type != Role.Type.MACHINE:
        return []
    return [
        build_panel(
            "Applications", ("Application", "Client ID"), bindings.OF_ROLE.items_of(role.pk),
            lambda application: (link(application), application.client_id),
        )
    ]  # fmt: skip


register_panels(Organization, _build_organization_panels)
register_panels(Role, _build_role_panels)

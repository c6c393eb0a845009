"""The pages of applications on the operators' site."""

from functools import partial
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from identity.core import durations
from identity.core.text_lists import join
from identity.operator_kit import crud
from identity.operator_kit.extensions import register_card, register_panels
from identity.operator_kit.operations import Operation
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.sections import SectionedPages
from identity.operator_kit.texts import Text
from identity.roles.models import Role
from oidc.applications import (
    access_admin,
    acr_admin,
    bindings,
    bindings_admin,
    claims_admin,
    client_metadata_admin,
    grant_types_admin,
    lifetimes_admin,
    secrets_admin,
    settings_admin,
    unused_lifetimes,
)
from oidc.applications.models import Application
from oidc.applications.page_sections import PERMISSIONS, SECTIONS, SETTINGS
from oidc.applications.type_words import TYPES

_AS_THE_TENANT: Final = _("As the tenant")
# The labels of columns and choices of the model, which the pages translate.
_LABELS: Final = (
    gettext_noop("Client ID"),
    gettext_noop("Created"),
    gettext_noop("Description"),
    gettext_noop("ID"),
    gettext_noop("Name"),
    gettext_noop("Third party"),
    gettext_noop("Type"),
    gettext_noop("Updated"),
    gettext_noop("Traditional"),
    gettext_noop("SPA"),
    gettext_noop("Native"),
    gettext_noop("Machine"),
)


def _machine_roles() -> list[tuple[str, str]]:
    roles = Role.objects.filter(type=Role.Type.MACHINE).order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in roles]


class RolesForm(forms.Form):
    """The system roles of a machine application."""

    role_ids = forms.MultipleChoiceField(
        label=_("Roles"), required=False, choices=_machine_roles, widget=forms.CheckboxSelectMultiple
    )


@admin.register(Application)
class ApplicationAdmin(SectionedPages):
    section = "Applications"
    empty = _("Register the first application that your users sign in to.")
    sections = SECTIONS
    fields_section = SETTINGS
    row_parameters = frozenset({"framework"})  # of the quick start
    list_display = ("name", "kind", "client_id", "is_third_party", "created_at")
    list_filter = ("type", "is_third_party")
    search_fields = ("name", "description", "client_id")
    log_filter = "q"
    field_groups = (
        (
            _("Application"),
            (
                *("name", "kind", "client_id", "description", "redirects", "redirects_after"),
                *("is_third_party", "pkce", "id_token_algorithm", "userinfo_algorithm"),
            ),
        ),
        (_("Grant types"), ("grants",)),
        (_("What users see"), client_metadata_admin.COLUMNS),
        (_("Lifetimes"), ("idle_lifetime", "absolute_lifetime", "sign_in_age")),
        (_("Strength of sign-ins"), ("required_strength", "default_strength")),
        (_("Record"), ("created_at", "updated_at", "id")),
    )
    operations = (
        settings_admin.CHANGE,
        grant_types_admin.OPERATION,
        client_metadata_admin.OPERATION,
        lifetimes_admin.OPERATION,
        acr_admin.OPERATION,
        claims_admin.OPERATION,
        *secrets_admin.OPERATIONS,
        Operation(
            "roles", _("Choose roles"),
            _("The roles decide the scopes. Roles that are not selected are removed, from the next "
            "request on."),
            partial(crud.assign, bindings.ROLES, "role_ids"), form=RolesForm,
            initial=partial(crud.get_assigned, bindings.ROLES, "role_ids"),
            is_possible=lambda row: row.type == Application.Type.MACHINE, section=PERMISSIONS,
            needs_proof=True,
        ),
        access_admin.OPERATION,
        settings_admin.DELETE,
        settings_admin.CREATE,
    )  # fmt: skip

    @admin.display(description=_("Type"), ordering="type")
    def kind(self, application: Application) -> Text:
        """Return the type in words."""
        return TYPES[application.type].name

    @admin.display(description=_("Redirect URIs"))
    def redirects(self, application: Application) -> str:
        """Return the redirect URIs, one per line."""
        return "\n".join(application.redirect_uris) or "-"

    @admin.display(description=_("Redirect URIs after sign-out"))
    def redirects_after(self, application: Application) -> str:
        """Return the redirect URIs after sign-out, one per line."""
        return "\n".join(application.post_logout_redirect_uris) or "-"

    @admin.display(description=_("Requires PKCE"), boolean=True)
    def pkce(self, application: Application) -> bool:
        """Whether an authorization request without a code challenge is refused."""
        return application.must_use_pkce

    @admin.display(description=_("Grant types"))
    def grants(self, application: Application) -> str:
        """Return the grant types."""
        return join(application.grant_types)

    @admin.display(description=_("Algorithm of ID tokens"))
    def id_token_algorithm(self, application: Application) -> str:
        """The algorithm or, without one, the text for the default."""
        return application.id_token_signed_response_alg or gettext("The tenant's default")

    @admin.display(description=_("Algorithm of userinfo"))
    def userinfo_algorithm(self, application: Application) -> str:
        """The algorithm or, without one, the text for the default."""
        return application.userinfo_signed_response_alg or gettext("JSON, not signed")

    @admin.display(description=_("Idle lifetime of refresh tokens"))
    def idle_lifetime(self, application: Application) -> Text:
        return _format_seconds(application.refresh_token_idle_seconds)

    @admin.display(description=_("Maximum lifetime of refresh tokens"))
    def absolute_lifetime(self, application: Application) -> Text:
        return _format_seconds(application.refresh_token_absolute_seconds)

    @admin.display(description=_("Maximum age of the sign-in (max_age)"))
    def sign_in_age(self, application: Application) -> Text:
        return _format_seconds(application.default_max_age, gettext("Any age"))

    @admin.display(description=_("Required strength of the sign-in (acr)"))
    def required_strength(self, application: Application) -> str:
        return application.required_acr or gettext("None")

    @admin.display(description=_("Default acr_values"))
    def default_strength(self, application: Application) -> str:
        return " ".join(application.default_acr_values) or "-"

    def get_panels(self, request: Any, row: Application) -> list[Panel]:
        """Return the panels; a machine application has its roles and organizations too."""
        if row.type != Application.Type.MACHINE:
            return super().get_panels(request, row)
        return [
            build_panel(
                gettext("Roles"), (gettext("Role"), gettext("Description")), bindings.ROLES.items_of(row.pk),
                lambda role: (link(role, role.name), role.description), section=PERMISSIONS,
                empty=gettext("None. Without a role, its tokens have no scopes."),
            ),
            bindings_admin.build_organizations_panel(row),
            *super().get_panels(request, row),
        ]  # fmt: skip


def _format_seconds(seconds: int | None, default: Text = _AS_THE_TENANT) -> Text:
    if seconds is None:
        return default
    return durations.describe_exactly(seconds)


def _build_role_panels(role: Role) -> list[Panel]:
    if role.type != Role.Type.MACHINE:
        return []
    return [
        build_panel(
            gettext("Applications"), (gettext("Application"), gettext("Client ID")),
            bindings.OF_ROLE.items_of(role.pk),
            lambda application: (link(application), application.client_id),
        )
    ]  # fmt: skip


register_panels(Role, _build_role_panels)
register_card(Application, unused_lifetimes.build_card)

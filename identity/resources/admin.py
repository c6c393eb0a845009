"""API resources and their scopes on the operators' site."""

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from identity.core import durations, impacts
from identity.operator_kit.algorithms import algorithm_choices
from identity.operator_kit.json_field import JSONField
from identity.operator_kit.operations import Operation, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.resources import claims_table, services
from identity.resources.models import Resource, Scope
from identity.resources.serializers import ROLE_CLAIMS, ResourceSerializer, ScopeSerializer

# The labels of columns, which ``get_label`` builds from their names.
_LABELS: Final = (
    gettext_noop("Default"),
    gettext_noop("Protected"),
    gettext_noop("Resource"),
)


class SettingsForm(forms.Form):
    """The settings of a resource."""

    name = forms.CharField(label=_("Name"), max_length=256)
    access_token_ttl = forms.IntegerField(
        label=_("Lifetime of access tokens"),
        initial=3600,
        help_text=_("In seconds, from one minute to 30 days."),
    )
    is_default = forms.BooleanField(
        required=False,
        label=_("Default resource"),
        help_text=_("For requests that name no resource. A tenant has at most one default resource."),
    )

    access_token_signing_alg = forms.ChoiceField(
        label=_("Algorithm of access tokens"),
        required=False,
        choices=algorithm_choices(_("The tenant's default")),
        help_text=_("Choose RS256 for APIs and gateways that verify no other."),
    )
    required_acr = forms.CharField(
        label=_("Required strength of the sign-in (acr)"),
        required=False,
        max_length=256,
        help_text=_(
            "The sign-in that users need for its access tokens: urn:service:acr:2fa for two factors, phr for "
            "a passkey, or an alias. Leave it empty to require none."
        ),
    )


class ClaimsForm(forms.Form):
    """The claims in access tokens of a resource."""

    claims = forms.MultipleChoiceField(
        label=_("Roles in claims"),
        required=False,
        choices=[(name, name) for name in ROLE_CLAIMS],
        widget=forms.CheckboxSelectMultiple,
    )
    custom_claims = JSONField(
        required=False,
        label=_("Custom claims"),
        help_text=_(
            'A JSON list, such as [{"name": "plan", "source": "user.custom_data.plan", '
            '"into": ["access_token"]}]'
        ),
        widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
    )


class NewResourceForm(SettingsForm):
    """A new resource."""

    indicator = forms.CharField(
        label=_("Indicator"),
        max_length=2048,
        help_text=_(
            "The audience of its tokens, such as https://api.example.com. It cannot be changed later."
        ),
    )

    field_order = ("name", "indicator")


class ScopeForm(forms.Form):
    """A new scope."""

    name = forms.CharField(
        label=_("Name"), max_length=256, help_text=_("As applications request it, such as read:invoices.")
    )
    description = forms.CharField(
        label=_("Description"), required=False, max_length=1024, widget=forms.Textarea({"rows": 2})
    )


def _create(submission: Submission) -> ShowRow:
    resource = services.create(**validate(ResourceSerializer, submission.fields))
    return ShowRow(gettext("The API resource is created."), resource)


def _change(submission: Submission) -> str:
    fields = validate(ResourceSerializer, submission.fields, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The API resource is changed.")


def _change_claims(submission: Submission) -> str:
    claims = {**submission.fields, "custom_claims": submission.fields["custom_claims"] or []}
    fields = validate(ResourceSerializer, claims, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The claims are changed.")


def _remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The API resource is deleted.")


def _add_scope(submission: Submission) -> str:
    scope = services.add_scope(submission.row.pk, **validate(ScopeSerializer, submission.fields))
    return gettext("The scope %(name)s is added.") % {"name": scope.name}


def _remove_scope(submission: Submission) -> str:
    services.remove_scope(submission.row, expected=submission.expected)
    return gettext("The scope is deleted.")


def _is_unprotected(row: Any) -> bool:
    return not row.is_protected


@admin.register(Resource)
class ResourceAdmin(Pages):
    """API resources and their scopes."""

    section = "API resources & roles"
    title = _("API resources")
    empty = _("An API resource is an API that accepts access tokens of this tenant.")
    list_display = ("name", "indicator", "lifetime", "is_default", "created_at")
    list_filter = ("is_default",)
    search_fields = ("name", "indicator")
    field_groups = (
        (
            _("API resource"),
            (
                "name",
                "indicator",
                "is_default",
                "lifetime",
                "algorithm",
                "required_acr",
                "is_protected",
            ),
        ),
        (_("Claims"), ("claims",)),
        (_("Record"), ("created_at", "updated_at", "id")),
    )

    operations = (
        Operation(
            "change", _("Edit API resource"), _("Issued tokens keep their lifetime."), _change,
            form=SettingsForm,
            initial=lambda row: {name: getattr(row, name) for name in SettingsForm.base_fields},
            sentence=_("Edit {name}"), edits=_("API resource"),
            needs_proof=lambda resource: bool(resource.required_acr),
        ),
        Operation(
            "claims", _("Edit claims"), _("Access tokens from now on have the changed claims."),
            _change_claims, form=ClaimsForm,
            initial=lambda row: {"claims": row.claims, "custom_claims": row.custom_claims}, edits=_("Claims"),
        ),
        Operation(
            "add-scope", _("Add scope"),
            _("Users and applications have the scope once one of their roles has it."),
            _add_scope, form=ScopeForm,
        ),
        Operation(
            "delete", _("Delete API resource"),
            _("Deletes the API resource and its scopes, which are also removed from all roles."), _remove,
            is_possible=_is_unprotected, is_destructive=True, sentence=_("Delete {name}"),
            impact=impacts.measure, needs_proof=lambda resource: bool(resource.required_acr),
        ),
        Operation(
            "create", _("Create API resource"),
            _("Applications get tokens for it once a role has its scopes."),
            _create, form=NewResourceForm, needs_row=False,
        ),
    )  # fmt: skip

    @admin.display(description=_("Lifetime of access tokens"), ordering="access_token_ttl")
    def lifetime(self, row: Resource) -> str:
        return durations.describe_exactly(row.access_token_ttl)

    @admin.display(description=_("Algorithm of access tokens"))
    def algorithm(self, row: Resource) -> str:
        """The algorithm or, without one, the text for the default."""
        return row.access_token_signing_alg or gettext("The tenant's default")

    def get_panels(self, request: Any, row: Resource) -> list[Panel]:
        """Return the panels of the custom claims and the scopes, and those of other apps."""
        panel = build_panel(
            gettext("Scopes"), (gettext("Scope"), gettext("Description")),
            Scope.objects.filter(resource=row).order_by("name"),
            lambda scope: (link(scope, scope.name), scope.description),
        )  # fmt: skip
        claims = Panel(
            gettext("Custom claims"), claims_table.HEADINGS, claims_table.build_rows(row.custom_claims)
        )
        return [claims, panel, *super().get_panels(request, row)]


@admin.register(Scope)
class ScopeAdmin(Pages):
    """The scopes of all resources."""

    section = "API resources & roles"
    place = 1
    empty = _("Add scopes on the page of an API resource.")
    list_display = ("name", "resource", "description", "created_at")
    list_select_related = ("resource",)
    search_fields = ("name", "description", "resource__name")
    fields = ("id", "name", "api_resource", "description", "is_protected", "created_at")
    operations = (
        Operation(
            "delete", _("Delete scope"),
            _("Removes the scope from all roles, and from tokens issued from now on."), _remove_scope,
            is_possible=_is_unprotected, is_destructive=True, impact=impacts.measure,
        ),
    )  # fmt: skip

    @admin.display(description=_("API resource"))
    def api_resource(self, scope: Scope) -> str:
        return f"{scope.resource.name} ({scope.resource.indicator})"

"""Forms of organizations on the operators' site."""

from django import forms
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.json_field import JSONField
from identity.operator_kit.name_form import NameForm
from identity.organizations.models import OrganizationPermission, OrganizationRole


class OrganizationForm(NameForm):
    """An organization."""

    logo_url = forms.CharField(
        label=_("Logo for applications"),
        required=False,
        max_length=2048,
        help_text=_(
            "An https URL that applications can show. The logo of the sign-in pages is in the branding."
        ),
    )
    metadata = JSONField(label=_("Metadata"),
        required=False, initial=dict, help_text=_("A JSON object for applications."),
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
    )  # fmt: skip
    is_mfa_required = forms.BooleanField(
        required=False,
        label=_("Require two factors"),
        help_text=_(
            "Users get a token of this organization only after a sign-in with two factors. Tokens that exist "
            "stay valid until they expire."
        ),
    )

    def clean_metadata(self) -> object:
        """Return an empty object for an empty field."""
        return self.cleaned_data["metadata"] or {}


class NewRoleForm(NameForm):
    """A new role template."""

    type = forms.ChoiceField(
        label=_("Type"),
        choices=OrganizationRole.Type.choices,
        help_text=_("Who can have the role. It cannot be changed later."),
    )

    field_order = ("name", "type", "description")


class MemberForm(forms.Form):
    """Whether a member is an administrator."""

    is_admin = forms.BooleanField(required=False, label=_("Administrator of the organization"))


def _permissions() -> list[tuple[str, str]]:
    found = OrganizationPermission.objects.order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in found]


def _user_roles() -> list[tuple[str, str]]:
    found = OrganizationRole.objects.filter(type=OrganizationRole.Type.USER).order_by("name")
    return [(str(pk), name) for pk, name in found.values_list("pk", "name")]


class PermissionsForm(forms.Form):
    """The permissions of a role template."""

    permission_ids = forms.MultipleChoiceField(
        label=_("Permissions"), required=False, choices=_permissions, widget=forms.CheckboxSelectMultiple
    )


class MemberRolesForm(forms.Form):
    """The roles of a member."""

    organization_role_ids = forms.MultipleChoiceField(
        label=_("Roles"), required=False, choices=_user_roles, widget=forms.CheckboxSelectMultiple
    )

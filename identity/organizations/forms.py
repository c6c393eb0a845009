"""Forms of organizations on the operators' site."""

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.json_field import JSONField
from identity.organizations.models import OrganizationPermission, OrganizationRole
from identity.users.user_lines import MAX_USERS

_LONG = forms.Textarea({"rows": 2})


class NameForm(forms.Form):
    """Name and description."""

    name = forms.CharField(label=_("Name"), max_length=256)
    description = forms.CharField(label=_("Description"), required=False, max_length=1024, widget=_LONG)


class OrganizationForm(NameForm):
    """An organization."""

    logo_url = forms.CharField(
        label=_("Logo"), required=False, max_length=2048, help_text=_("An https URL. Optional.")
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


class NewMembersForm(forms.Form):
    """New members."""

    user_ids = forms.CharField(
        label=_("Users"), max_length=60_000, widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        help_text=format_lazy(
            _("One username, email, phone or ID per line, at most {most}."), most=MAX_USERS
        ),
    )  # fmt: skip


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

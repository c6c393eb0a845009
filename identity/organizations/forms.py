"""Forms of organizations on the operators' site."""

from django import forms

from identity.organizations.models import OrganizationPermission, OrganizationRole

_LONG = forms.Textarea({"rows": 2})


class NameForm(forms.Form):
    """Name and description."""

    name = forms.CharField(max_length=256)
    description = forms.CharField(required=False, max_length=1024, widget=_LONG)


class OrganizationForm(NameForm):
    """An organization."""

    logo_url = forms.CharField(
        label="Logo", required=False, max_length=2048, help_text="An https URL. Optional."
    )
    metadata = forms.JSONField(
        required=False, initial=dict, help_text="A JSON object for applications.",
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
    )  # fmt: skip

    def clean_metadata(self) -> object:
        """Return an empty object for an empty field."""
        return self.cleaned_data["metadata"] or {}


class NewRoleForm(NameForm):
    """A new role template."""

    type = forms.ChoiceField(
        choices=OrganizationRole.Type.choices,
        help_text="Who can have the role. This cannot be changed later.",
    )

    field_order = ("name", "type", "description")


class NewMembersForm(forms.Form):
    """New members."""

    user_ids = forms.CharField(
        label="Users", max_length=60_000, widget=forms.Textarea({"rows": 6, "spellcheck": "false"}),
        help_text="One username, email, phone or ID per line, at most 200.",
    )  # fmt: skip


class MemberForm(forms.Form):
    """Whether a member is an administrator."""

    is_admin = forms.BooleanField(required=False, label="Administrator of the organization")


def _permissions() -> list[tuple[str, str]]:
    found = OrganizationPermission.objects.order_by("name").values_list("pk", "name")
    return [(str(pk), name) for pk, name in found]


def _user_roles() -> list[tuple[str, str]]:
    found = OrganizationRole.objects.filter(type=OrganizationRole.Type.USER).order_by("name")
    return [(str(pk), name) for pk, name in found.values_list("pk", "name")]


class PermissionsForm(forms.Form):
    """The permissions of a role template."""

    permission_ids = forms.MultipleChoiceField(
        label="Permissions", required=False, choices=_permissions, widget=forms.CheckboxSelectMultiple
    )


class MemberRolesForm(forms.Form):
    """The roles of a member."""

    organization_role_ids = forms.MultipleChoiceField(
        label="Roles", required=False, choices=_user_roles, widget=forms.CheckboxSelectMultiple
    )

"""Tenants on the operators' site, for administrators of all tenants."""

from typing import Final

from django import forms
from django.contrib import admin
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from audit import retention
from identity.core import impacts, tenancy
from identity.core.errors import Invalid
from identity.operator_kit.operations import Operation, ShowRow, Submission, validate
from identity.operator_kit.pages import Pages
from identity.tenants import services
from identity.tenants.models import Tenant
from identity.tenants.serializers import TenantSerializer

# The labels of columns, which ``get_label`` builds from their names.
_LABELS: Final = (gettext_noop("Tenants"),)


class SettingsForm(forms.Form):
    """The settings of a tenant."""

    name = forms.CharField(label=_("Name"), max_length=256)
    audit_retention_days = forms.IntegerField(
        required=False,
        label=_("Keep the audit log for"),
        help_text=_("In days. Empty: forever. Older entries are deleted by manage.py purge."),
    )


class NewTenantForm(SettingsForm):
    """A new tenant."""

    slug = forms.CharField(
        label=_("Slug"),
        max_length=63,
        help_text=_("Part of all URLs: lowercase letters, digits and dashes. It cannot be changed later."),
    )

    field_order = ("name", "slug")


class SlugForm(forms.Form):
    """The slug, which confirms that this is the tenant to delete."""

    slug = forms.CharField(label=_("Type the slug of the tenant"), max_length=63)


def _create(submission: Submission) -> ShowRow:
    tenant = services.provision(**validate(TenantSerializer, submission.fields))
    return ShowRow(gettext("The tenant %(name)s is created.") % {"name": tenant.slug}, tenant)


def _change(submission: Submission) -> str:
    fields = validate(TenantSerializer, submission.fields, submission.row)
    services.change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The tenant is changed.")


def _remove(submission: Submission) -> str:
    if submission.fields["slug"] != submission.row.slug:
        raise Invalid("slug", gettext_noop("is not the slug of this tenant"))
    services.remove(submission.row, expected=submission.expected)
    return gettext("The tenant is deleted.")


@admin.register(Tenant)
class TenantAdmin(Pages):
    section = "Settings"
    at_root = True
    change_form_template = "admin/tenant.html"
    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")
    field_groups = (
        (_("Tenant"), ("name", "slug", "issuer", "log_kept")),
        (_("Record"), ("created_at", "updated_at", "id")),
    )
    operations = (
        Operation(
            "change", _("Edit tenant"),
            _("The slug cannot be changed, because URLs contain it."), _change, form=SettingsForm,
            initial=lambda tenant: {
                "name": tenant.name, "audit_retention_days": retention.get_days(tenant.pk)
            },
            sentence=_("Edit {name}"), edits=_("Tenant"), needs_proof=True,
        ),
        Operation(
            "delete", _("Delete tenant"),
            _("Deletes the tenant with its users, applications, keys and other data. The audit log remains."),
            _remove, form=SlugForm, is_destructive=True, sentence=_("Delete {name}"), impact=impacts.measure,
            is_possible=lambda tenant: tenant.pk != tenancy.DEFAULT_ID,
        ),
        Operation(
            "create", _("Create tenant"),
            _("A new tenant has a signing key, a sign-in experience and an issuer of its own. Until "
              "you close sign-up, everyone who reaches its sign-in page can create an account."),
            _create, form=NewTenantForm, needs_row=False,
        ),
    )  # fmt: skip

    def parse_id(self, text: str) -> str | None:
        """Accept any text that can be stored, because ``default`` is an id too."""
        return None if "\0" in text else text

    @admin.display(description=_("Issuer"))
    def issuer(self, tenant: Tenant) -> str:
        return tenant.to_active().issuer

    @admin.display(description=_("Audit log"))
    def log_kept(self, tenant: Tenant) -> str:
        days = retention.get_days(tenant.pk)
        if not days:
            return gettext("Kept forever")
        return ngettext("Kept for %(count)s day", "Kept for %(count)s days", days) % {"count": days}

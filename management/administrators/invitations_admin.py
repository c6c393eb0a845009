"""The operators' pages of invitations, for superusers."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from identity.operator_kit import badges
from identity.operator_kit.extensions import register_card
from identity.operator_kit.operations import Operation, ShowRow, ShowSecrets, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Card, Panel, build_panel, link
from management.administrators import invitations, mail
from management.administrators.forms import InvitationForm, ProofForm, get_proof, get_rights
from management.administrators.invitations import Invited
from management.administrators.models import Administrator, Invitation
from management.administrators.serializers import InvitationSerializer

DESCRIPTION: Final = _(
    "The invited person chooses a username and a password. The link works once, for three days, and only "
    "while you manage every tenant."
)
# The labels of columns: identity/operator_kit/labels.py
_LABELS: Final = (
    gettext_noop("Email"), gettext_noop("Role"), gettext_noop("Manages every tenant"),
    gettext_noop("Invited by"), gettext_noop("Expires"), gettext_noop("Sent by mail"),
    gettext_noop("Created"), gettext_noop("Updated"), gettext_noop("ID"),
)  # fmt: skip


def invite(submission: Submission) -> ShowRow | ShowSecrets:
    """Invite a person, and redirect to the invitation or, without mail, to the page that shows its link."""
    fields = validate(InvitationSerializer, get_rights(submission))
    return _show(invitations.invite(**fields, **get_proof(submission), by=submission.by))


def _renew(submission: Submission) -> ShowRow | ShowSecrets:
    return _show(invitations.renew(submission.row, **get_proof(submission), by=submission.by))


def _show_link(submission: Submission) -> ShowRow | ShowSecrets:
    return _show(
        invitations.renew(submission.row, **get_proof(submission), by=submission.by, by_mail=False), "link"
    )


def _show(invited: Invited, renew: str = "renew") -> ShowRow | ShowSecrets:
    email = invited.invitation.email
    if not invited.link:
        return ShowRow(gettext("%(email)s is invited.") % {"email": email}, invited.invitation)
    says = gettext(
        "Send this link to %(email)s yourself, because no mail server is configured. It works for three days."
    )
    if mail.is_configured():
        says = gettext("Send this link to %(email)s yourself. It works for three days.")
    link, title = {gettext("Link"): invited.link}, gettext("Invitation link")
    return ShowSecrets(says % {"email": email}, link, invited.invitation, renew, title=title, kind="link")


def _can_mail(invitation: Invitation) -> bool:
    return mail.is_configured()


def _build_card(invitation: Invitation, urls: Mapping[str, str]) -> Card:
    return Card("admin/invitation_refused.html", {"invitation": invitation, "link": urls.get("link")})


def _revoke(submission: Submission) -> str:
    invitations.revoke(submission.row, by=submission.by, expected=submission.expected)
    return gettext("The invitation is revoked. Its link no longer works.")


def build_tenants_panel(row: Administrator | Invitation) -> Panel:
    """Return the panel of the tenants that an administrator manages, or will manage."""
    empty = gettext("All of them.") if row.is_superuser else gettext("None.")
    headings = (gettext("Tenant"), gettext("Slug"))
    tenants = row.tenants.order_by("name")
    return build_panel(
        gettext("Tenants"), headings, tenants, lambda tenant: (link(tenant), tenant.slug), empty=empty
    )


@admin.register(Invitation)
class InvitationAdmin(Pages):
    section = "Settings"
    place = 2
    at_root = True
    title = _("Invitations")
    empty = _("Nobody is invited. Invite people instead of choosing passwords for them.")
    list_display = ("email", "state", "role", "is_superuser", "invited_by", "expires_at")
    list_select_related = ("invited_by",)
    search_fields = ("email",)
    field_groups = (
        (_("Invitation"), ("email", "state", "invited_by", "expires_at", "is_mailed")),
        (_("Rights"), ("role", "is_superuser")),
        (_("Record"), ("created_at", "updated_at", "id")),
    )
    operations = (
        Operation(
            "renew", _("Send again"),
            _("A new link works for three days. The earlier link stops working."), _renew,
            form=ProofForm, sentence=_("Invite {name} again"),
        ),
        Operation(
            "link", _("Show link"),
            _("Shows a new link, which you send yourself, by a way that only the invited person reads. It "
              "works for three days. The earlier link stops working."),
            _show_link, form=ProofForm, is_possible=_can_mail,
        ),
        Operation(
            "delete", _("Revoke invitation"), _("The link stops working at once."), _revoke,
            is_destructive=True, sentence=_("Revoke the invitation of {name}"),
            bulk_label=(
                _("Revoke invitations"),
                ngettext_lazy("Revoke %(count)s invitation", "Revoke %(count)s invitations", "count"),
            ), bulk_description=_("The links stop working at once."),
        ),
        Operation(
            "create", _("Invite administrator"),
            DESCRIPTION, invite, form=InvitationForm, needs_row=False,
        ),
    )  # fmt: skip

    @admin.display(description=_("State"))
    def state(self, invitation: Invitation) -> str:
        """Return whether the link works."""
        if invitation.expires_at <= timezone.now():
            return badges.badge(gettext("Expired"), badges.QUIET)
        if invitation.is_refused:
            return badges.badge(gettext("Not sent"), badges.BAD)
        if not invitation.invited_by.manages_everything:
            return badges.badge(gettext("Ended: the inviter lost rights"), badges.WARNING)
        return badges.badge(gettext("Pending"), badges.GOOD)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return invitations with the rights of their inviters, and without hashes."""
        rows = super().get_queryset(request).select_related("invited_by")
        return rows.defer("token_hash", "invited_by__password", "invited_by__sealed_totp_secret")

    def get_panels(self, request: Any, row: Invitation) -> list[Panel]:
        """Return the panel of the tenants that the invited person will manage."""
        return [build_tenants_panel(row)]


register_card(Invitation, _build_card)

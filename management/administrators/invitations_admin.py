"""The operators' pages of invitations, for superusers."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from identity.operator_kit import badges
from identity.operator_kit.extensions import register_card
from identity.operator_kit.operations import Operation, ShowRow, ShowSecrets, Submission, validate
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Card, Panel, build_panel, link
from management.administrators import invitations, mail
from management.administrators.forms import InvitationForm, ProofForm, get_proof, get_rights
from management.administrators.invitations import Invited
from management.administrators.models import Invitation
from management.administrators.serializers import InvitationSerializer

SAYS: Final = (
    "The invited person chooses a username and a password. The link works once, for three days, and only "
    "while you manage every tenant."
)


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
        return ShowRow(f"{email} is invited.", invited.invitation)
    why = "" if mail.is_configured() else ", because no mail server is configured"
    says = f"Send this link to {email} yourself{why}. It works for three days."
    return ShowSecrets(
        says, {"Link": invited.link}, invited.invitation, renew, title="Invitation link", kind="link"
    )


def _can_mail(_: Invitation) -> bool:
    return mail.is_configured()


def _build_card(invitation: Invitation, urls: Mapping[str, str]) -> Card:
    return Card("admin/invitation_refused.html", {"invitation": invitation, "link": urls.get("link")})


def _revoke(submission: Submission) -> str:
    invitations.revoke(submission.row, expected=submission.expected)
    return "The invitation is revoked. Its link no longer works."


@admin.register(Invitation)
class InvitationAdmin(Pages):
    section = "Settings"
    place = 2
    at_root = True
    title = "Invitations"
    empty = "Nobody is invited. Invite people instead of choosing passwords for them."
    list_display = ("email", "state", "role", "is_superuser", "invited_by", "expires_at")
    list_select_related = ("invited_by",)
    search_fields = ("email",)
    field_groups = (
        ("Invitation", ("email", "state", "invited_by", "expires_at", "is_mailed")),
        ("Rights", ("role", "is_superuser")),
        ("Record", ("created_at", "updated_at", "id")),
    )
    operations = (
        Operation(
            "renew", "Send again", "A new link works for three days. The earlier link stops working.", _renew,
            form=ProofForm, sentence="Invite {name} again",
        ),
        Operation(
            "link", "Show link",
            "Shows a new link, which you send yourself, by a way that only the invited person reads. It "
            "works for three days. The earlier link stops working.",
            _show_link, form=ProofForm, is_possible=_can_mail,
        ),
        Operation(
            "delete", "Revoke invitation", "The link stops working at once.", _revoke,
            is_destructive=True, sentence="Revoke the invitation of {name}",
            bulk_label=(
                _("Revoke invitations"),
                ngettext_lazy("Revoke %(count)s invitation", "Revoke %(count)s invitations", "count"),
            ), bulk_description="The links stop working at once.",
        ),
        Operation(
            "create", "Invite administrator",
            SAYS, invite, form=InvitationForm, needs_row=False,
        ),
    )  # fmt: skip

    @admin.display(description="State")
    def state(self, invitation: Invitation) -> str:
        """Return whether the link works."""
        if invitation.expires_at <= timezone.now():
            return badges.badge("Expired", badges.QUIET)
        if invitation.is_refused:
            return badges.badge("Not sent", badges.BAD)
        if not invitation.invited_by.manages_everything:
            return badges.badge("Ended: the inviter lost rights", badges.WARNING)
        return badges.badge("Pending", badges.GOOD)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return invitations with the rights of their inviters, and without hashes."""
        rows = super().get_queryset(request).select_related("invited_by")
        return rows.defer("token_hash", "invited_by__password", "invited_by__sealed_totp_secret")

    def get_panels(self, request: Any, row: Invitation) -> list[Panel]:
        """Return the panel of the tenants that the invited person will manage."""
        empty = "All of them." if row.is_superuser else "None."
        tenants = row.tenants.order_by("name")
        return [
            build_panel(
                "Tenants",
                ("Tenant", "Slug"),
                tenants,
                lambda tenant: (link(tenant), tenant.slug),
                empty=empty,
            )
        ]


register_card(Invitation, _build_card)

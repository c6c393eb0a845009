"""The passkeys on the page of an administrator: the panel, and their removal by another administrator."""

from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.factors import relying_party
from identity.operator_kit import panels
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.panels import Panel
from identity.operator_kit.timestamps import format_text
from management.administrators import passkeys, proof
from management.administrators.forms import ProofForm, get_proof
from management.administrators.models import Administrator, AdministratorPasskey


def _remove(submission: Submission) -> str:
    fields = get_proof(submission)
    proof.check(submission.by, password=fields["current_password"], code=fields["current_code"])
    passkeys.remove_all(submission.row, by=submission.by)
    return gettext("The passkeys are removed; sessions that they started have ended.")


def _has_passkeys(administrator: Administrator) -> bool:
    return AdministratorPasskey.objects.filter(administrator=administrator).exists()


REMOVE: Final = Operation(
    "passkeys", _("Remove passkeys"),
    _("For an administrator who lost a device. The administrator then signs in with the password. Ends the "
      "sessions that a passkey started."),
    _remove, form=ProofForm, is_possible=_has_passkeys, is_destructive=True,
)  # fmt: skip


def build_panel(administrator: Administrator) -> Panel:
    """Return the panel of an administrator's passkeys."""
    rows = AdministratorPasskey.objects.filter(administrator=administrator).order_by("created_at", "pk")
    headings = (gettext("Name"), gettext("Added"), gettext("Last used"), gettext("State"))
    return panels.build_panel(gettext("Passkeys"), headings, rows, _get_cells)


def _get_cells(passkey: AdministratorPasskey) -> tuple[object, ...]:
    used = format_text(passkey.last_used_at) if passkey.last_used_at else None
    is_elsewhere = passkey.rp_id != relying_party.current().id
    state = gettext("Made for another address") if is_elsewhere else None
    return passkey.name or gettext("Passkey"), format_text(passkey.created_at), used, state

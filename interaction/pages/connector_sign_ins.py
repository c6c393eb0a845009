"""The latest sign-ins with a connector, on its page, with the reasons of those that failed."""

from typing import Any, Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.panels import Panel, link
from identity.operator_kit.timestamps import format_time
from interaction.connectors.models import Connector
from interaction.journeys.social import errors
from interaction.journeys.social.trial_report import ADVICE

_KINDS: Final = {
    Event.SIGN_IN_SOCIAL.value: _("Sign-in"),
    Event.SOCIAL_IDENTITY_CREATE.value: _("Linking"),
}
_MESSAGES: Final = {
    refusal.reason: refusal.message
    for refusal in (errors.NotReauthenticated, errors.Declined, errors.NoAccount, errors.AccountExists)
}
_READ: Final = 200  # the newest entries of all connectors, in which this connector's are searched
_SHOWN: Final = 10


def build_panels(connector: Connector) -> list[Panel]:
    """Return the panel of a social connector, or an empty list for a connector of another type."""
    if connector.type != Connector.Type.SOCIAL:
        return []
    entries = Entry.objects.filter(tenant_id=tenancy.active_id(), key__in=_KINDS)
    latest = entries.order_by("-created_at", "-id")[:_READ]
    of_connector = [entry for entry in latest if entry.payload.get("connector_id") == connector.connector_id]
    rows: list[tuple[Any, ...]] = [
        (link(entry, format_time(entry.created_at)), _describe_kind(entry), *_get_outcome(entry))
        for entry in of_connector[:_SHOWN]
    ]
    return [
        Panel(
            gettext("Latest sign-ins"),
            (gettext("When"), gettext("What"), gettext("Result"), gettext("Reason")),
            rows,
        )
    ]


def _describe_kind(entry: Entry) -> str:
    kind = _KINDS[entry.key]
    if not entry.payload.get("is_test"):
        return str(kind)
    return gettext("%(kind)s (tried by an administrator)") % {"kind": kind}


def _get_outcome(entry: Entry) -> tuple[str, str]:
    """Return the result of a sign-in and, if it failed, the reason and what to change."""
    if entry.payload.get("result") != "failed":
        return gettext("Succeeded"), "-"
    error, reason = str(entry.payload.get("error")), str(entry.payload.get("reason") or "")
    text = gettext(_MESSAGES[error]) if error in _MESSAGES else error.replace("_", " ")
    text += f" ({reason.replace('_', ' ')})" if reason else ""
    advice = ADVICE.get(reason) or ADVICE.get(error, "")
    return gettext("Failed"), f"{text[:1].upper()}{text[1:]}. {advice}".strip()


register_panels(Connector, build_panels)

"""The latest sign-ins with a connector, on its page, with the reasons of those that failed."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.panels import Panel, link
from identity.operator_kit.texts import Text
from identity.operator_kit.timestamps import format_time
from interaction.connectors.errors import Reason
from interaction.connectors.models import Connector
from interaction.journeys.social.trial_report import ADVICE

_KINDS: Final = {
    Event.SIGN_IN_SOCIAL.value: _("Sign-in"),
    Event.SOCIAL_IDENTITY_CREATE.value: _("Linking"),
}
# The sentences are those of the audit log.
_ERRORS: Final[Mapping[str, Text]] = {
    "account_exists": _("another user already has the email address of the account at the provider"),
    "declined": _("the user or the provider stopped the sign-in"),
    "linked_elsewhere": _("the account at the provider is linked to another user"),
    "too_many_linked_accounts": _("the user had the highest number of linked accounts, 50"),
    "no_account": _("no user is linked to the account at the provider"),
    "not_asked_again": _("the provider did not confirm a new sign-in"),
    "not_offered": _("the provider has no enabled connector"),
    "overloaded": _("too many sign-ins were in progress"),
    "provider_failed": _("the provider did not answer correctly"),
    "sign_in_again": _("the user had to sign in again first"),
    "signed_out": _("the session ended before the account was linked"),
    "suspended": _("the user is suspended"),
    "wrong_callback": _("the provider's answer arrived at the address of another connector"),
}
_REASONS: Final[Mapping[str, Text]] = {
    Reason.ISSUER: _("the ID token has another issuer"),
    Reason.AUDIENCE: _("the ID token is for another client"),
    Reason.SIGNATURE: _("the signature of the ID token is wrong"),
    Reason.NONCE: _("the ID token belongs to another sign-in"),
    Reason.EXPIRED: _("the ID token has expired"),
    Reason.MISSING_CLAIM: _("the ID token lacks a claim"),
    Reason.NO_SUCH_KEY: _("the provider does not have the key of the ID token"),
    Reason.SEVERAL_KEYS: _("the provider has several keys for the ID token"),
    Reason.CODE_REFUSED: _("the provider refused the authorization code"),
    Reason.TIMED_OUT: _("the provider did not answer in time"),
    Reason.UNREACHABLE: _("the provider could not be reached"),
    Reason.ANSWER: _("the answer was unexpected"),
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
    text: Any = _ERRORS.get(error) or error.replace("_", " ")
    if reason:
        detail = _REASONS.get(reason) or reason.replace("_", " ")
        text = gettext("%(reason)s (%(detail)s)") % {"reason": text, "detail": detail}
    advice = ADVICE.get(reason) or ADVICE.get(error, "")
    return gettext("Failed"), f"{capfirst(text)}. {advice}".strip()


register_panels(Connector, build_panels)

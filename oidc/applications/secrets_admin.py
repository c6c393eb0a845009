"""The secrets of an application, on the operators' site."""

from datetime import timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.core import tenancy
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.operations import Operation, ShowSecrets, Submission
from identity.operator_kit.panels import Panel
from identity.operator_kit.timestamps import format_text, format_time
from identity.rest.fields import MAX_DAYS_AHEAD
from oidc.applications import client_secrets, management_access, services
from oidc.applications.client_secrets import NoSuchSecret
from oidc.applications.models import Application
from oidc.applications.page_sections import SECRETS

_WHY_NONE: Final = _(
    "None. Users could read a secret in this application, so it proves with PKCE that it began the sign-in."
)


class NewSecretForm(forms.Form):
    """The name of a further secret, and when it expires."""

    name = forms.CharField(label=_("Name"), required=False, max_length=256)
    expires_in_days = forms.IntegerField(
        label=_("Expires after (days)"), required=False, min_value=1, max_value=MAX_DAYS_AHEAD,
        help_text=_("Leave it empty for a secret that does not expire."),
    )  # fmt: skip


def _describe(secret: dict[str, Any], application: Application) -> str:
    name = secret["name"] or (
        gettext("First secret") if secret["id"] == application.pk else gettext("Without a name")
    )
    return gettext("%(name)s, created %(time)s") % {"name": name, "time": format_text(secret["created_at"])}


def _build_deletion_form(application: Application) -> type[forms.Form]:
    """Return a form with the secrets that an application has now."""
    choices = [
        (str(secret["id"]), _describe(secret, application)) for secret in client_secrets.find_all(application)
    ]
    field = forms.ChoiceField(label=gettext("Secret"), choices=choices, widget=forms.RadioSelect)
    return type("DeletionForm", (forms.Form,), {"secret_id": field})


def show(application: Application, secret: str, message: str, *, renew: str = "secret") -> ShowSecrets:
    """Return a new secret as the result of an operation."""
    return ShowSecrets(
        message,
        {gettext("Client ID"): application.client_id, gettext("Client secret"): secret},
        application,
        renew,
        {
            "ISSUER": tenancy.active().issuer,
            "CLIENT_ID": application.client_id,
            "CLIENT_SECRET": secret,
        },
    )


def _rotate(submission: Submission) -> ShowSecrets:
    secret = services.rotate_secret(submission.row, is_proven=submission.is_proven)
    return show(submission.row, secret, gettext("All other secrets have stopped working."))


def _add(submission: Submission) -> ShowSecrets:
    days = submission.fields["expires_in_days"]
    expires_at = timezone.now() + timedelta(days=days) if days else None
    name, is_proven = submission.fields["name"], submission.is_proven
    _, secret = client_secrets.create(submission.row, name=name, expires_at=expires_at, is_proven=is_proven)
    return show(submission.row, secret, gettext("The other secrets still work."), renew="add-secret")


def _remove(submission: Submission) -> str:
    secret_id = ids.parse(submission.fields["secret_id"])
    if secret_id is None:
        raise NoSuchSecret
    client_secrets.remove(submission.row, secret_id)
    return gettext("The secret is deleted.")


def _build_panels(application: Application) -> list[Panel]:
    if not application.must_present_secret:
        return [Panel(gettext("Secrets"), (), [], empty=_WHY_NONE, section=SECRETS)]
    rows = [
        (
            secret["name"] or (gettext("First secret") if secret["id"] == application.pk else ""),
            str(secret["id"]),
            format_time(secret["created_at"]),
            format_time(secret["expires_at"])
            if secret["expires_at"]
            else capfirst(pgettext("expires", "never")),
        )
        for secret in client_secrets.find_all(application)
    ]
    return [
        Panel(
            gettext("Secrets"),
            (gettext("Name"), gettext("ID"), gettext("Created"), gettext("Expires")),
            rows,
            section=SECRETS,
        )
    ]


def _has_secrets(application: Application) -> bool:
    return application.must_present_secret


OPERATIONS: Final = (
    Operation(
        "add-secret", _("Add secret"),
        _("The other secrets still work, so the application can change to the new one without an outage."),
        _add, form=NewSecretForm, is_possible=_has_secrets, section=SECRETS,
        needs_proof=management_access.has_role,
    ),
    Operation(
        "delete-secret", _("Delete secret"), _("The secret stops working at once."),
        _remove, form_for=_build_deletion_form, is_destructive=True, is_possible=_has_secrets,
        section=SECRETS,
    ),
    Operation(
        "secret", _("Create new secret"),
        _("All other secrets stop working at once. The application gets no tokens until it has the new one."),
        _rotate, is_destructive=True, is_possible=_has_secrets, needs_proof=management_access.has_role,
    ),
)  # fmt: skip
register_panels(Application, _build_panels)

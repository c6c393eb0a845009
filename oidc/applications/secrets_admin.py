"""The secrets of an application, on the operators' site."""

from datetime import timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone

from database import ids
from identity.core import tenancy
from identity.operator_kit.extensions import register_panels
from identity.operator_kit.operations import Operation, ShowSecrets, Submission
from identity.operator_kit.panels import Panel
from identity.operator_kit.timestamps import format_text, format_time
from oidc.applications import client_secrets, services
from oidc.applications.client_secrets import NoSuchSecret
from oidc.applications.models import Application
from oidc.applications.page_sections import SECRETS

_WHY_NONE: Final = (
    "None. Users could read a secret in this application, so it proves with PKCE that it began the sign-in."
)


class NewSecretForm(forms.Form):
    """The name of a further secret, and when it expires."""

    name = forms.CharField(required=False, max_length=256)
    expires_in_days = forms.IntegerField(
        label="Expires after (days)", required=False, min_value=1, max_value=36_500,
        help_text="Leave it empty for a secret that does not expire.",
    )  # fmt: skip


def _describe(secret: dict[str, Any], application: Application) -> str:
    name = secret["name"] or ("First secret" if secret["id"] == application.pk else "Without a name")
    return f"{name}, created {format_text(secret['created_at'])}"


def _build_deletion_form(application: Application) -> type[forms.Form]:
    """Return a form with the secrets that an application has now."""
    choices = [
        (str(secret["id"]), _describe(secret, application)) for secret in client_secrets.find_all(application)
    ]
    field = forms.ChoiceField(label="Secret", choices=choices, widget=forms.RadioSelect)
    return type("DeletionForm", (forms.Form,), {"secret_id": field})


def show(application: Application, secret: str, message: str, *, renew: str = "secret") -> ShowSecrets:
    """Return a new secret as the result of an operation."""
    return ShowSecrets(
        message,
        {"Client ID": application.client_id, "Client secret": secret},
        application,
        renew,
        {
            "ISSUER": tenancy.active().issuer,
            "CLIENT_ID": application.client_id,
            "CLIENT_SECRET": secret,
        },
    )


def _rotate(submission: Submission) -> ShowSecrets:
    secret = services.rotate_secret(submission.row)
    return show(submission.row, secret, "All other secrets have stopped working.")


def _add(submission: Submission) -> ShowSecrets:
    days = submission.fields["expires_in_days"]
    expires_at = timezone.now() + timedelta(days=days) if days else None
    _, secret = client_secrets.create(submission.row, name=submission.fields["name"], expires_at=expires_at)
    return show(submission.row, secret, "The other secrets still work.", renew="add-secret")


def _remove(submission: Submission) -> str:
    secret_id = ids.parse(submission.fields["secret_id"])
    if secret_id is None:
        raise NoSuchSecret
    client_secrets.remove(submission.row, secret_id)
    return "The secret is deleted."


def _build_panels(application: Application) -> list[Panel]:
    if not application.must_present_secret:
        return [Panel("Secrets", (), [], empty=_WHY_NONE, section=SECRETS)]
    rows = [
        (
            secret["name"] or ("First secret" if secret["id"] == application.pk else ""),
            str(secret["id"]),
            format_time(secret["created_at"]),
            format_time(secret["expires_at"]) if secret["expires_at"] else "never",
        )
        for secret in client_secrets.find_all(application)
    ]
    return [Panel("Secrets", ("Name", "ID", "Created", "Expires"), rows, section=SECRETS)]


def _has_secrets(application: Application) -> bool:
    return application.must_present_secret


OPERATIONS: Final = (
    Operation(
        "add-secret", "Add secret",
        "The other secrets still work, so the application can change to the new one without an outage.",
        _add, form=NewSecretForm, is_possible=_has_secrets, section=SECRETS,
    ),
    Operation(
        "delete-secret", "Delete secret", "The secret stops working at once.",
        _remove, form_for=_build_deletion_form, is_destructive=True, is_possible=_has_secrets,
        section=SECRETS,
    ),
    Operation(
        "secret", "Create new secret",
        "All other secrets stop working at once. The application gets no tokens until it has the new one.",
        _rotate, is_destructive=True, is_possible=_has_secrets,
    ),
)  # fmt: skip
register_panels(Application, _build_panels)

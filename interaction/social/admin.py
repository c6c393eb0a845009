"""The accounts at other providers that are linked to a user, on the operators' site."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from database import ids
from identity.core.records import Gone
from identity.operator_kit.extensions import register_operations, register_panels
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.panels import Panel
from identity.operator_kit.timestamps import format_time
from identity.users.models import User
from interaction.social import services
from interaction.social.models import SocialIdentity


def _describe(identity: SocialIdentity) -> str:
    return f"{identity.provider_name}: {identity.email or identity.name or identity.subject}"


def _build_form(user: User) -> type[forms.Form]:
    """Return a form with the accounts that are linked to a user now."""
    choices = [(str(identity.pk), _describe(identity)) for identity in services.find_by_user(user)]
    field = forms.ChoiceField(
        label=gettext("Account"), choices=choices, required=bool(choices), widget=forms.RadioSelect,
        help_text="" if choices else gettext("No account is linked."),
    )  # fmt: skip
    return type("AccountForm", (forms.Form,), {"identity_id": field})


def _unlink(submission: Submission) -> str:
    pk = ids.parse(submission.fields["identity_id"])
    if pk is None:
        raise Gone
    services.unlink(submission.row, pk)
    return gettext("The account is unlinked.")


def _build_panels(user: User) -> list[Panel]:
    rows: list[tuple[Any, ...]] = [
        (
            identity.provider_name,
            identity.email or identity.name,
            identity.subject,
            format_time(identity.created_at),
            format_time(identity.last_used_at),
        )
        for identity in services.find_by_user(user)
    ]
    headings = (
        gettext("Provider"),
        gettext("Account"),
        gettext("Subject"),
        gettext("Linked since"),
        gettext("Last used"),
    )
    return [Panel(gettext("Linked accounts"), headings, rows, ends=("unlink",))]


register_panels(User, _build_panels)
register_operations(
    User,
    Operation(
        "unlink", _("Unlink account"),
        _("The user can no longer sign in with the account at the other provider, is signed out everywhere, "
        "and gets a notice. The account there remains."),
        _unlink, form_for=_build_form, is_destructive=True,
    ),
)  # fmt: skip

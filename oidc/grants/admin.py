"""The access of applications to a user's account, on the operators' site."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.core.records import Gone
from identity.operator_kit.extensions import register_operations, register_panels
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.panels import Panel, link
from identity.operator_kit.timestamps import format_time
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import connections, revocations

_ALL: Final = "all"


def _build_choice(choices: list[tuple[str, str]], none: str) -> type[forms.Form]:
    """Return a form with the choice of an application, or with a text that there is none."""
    field = forms.ChoiceField(
        label=gettext("Application"), choices=choices, required=bool(choices), widget=forms.RadioSelect,
        help_text="" if choices else none,
    )  # fmt: skip
    return type("ApplicationForm", (forms.Form,), {"application_id": field})


def _build_tokens_form(user: User) -> type[forms.Form]:
    families = connections.find_usable_families(user).values("application_id")
    applications = Application.objects.filter(pk__in=families).order_by("name", "pk")
    choices = [(str(pk), name) for pk, name in applications.values_list("pk", "name")]
    return _build_choice(
        [(_ALL, gettext("All applications")), *choices] if choices else [],
        gettext("No application has a refresh token."),
    )


def _end_tokens(submission: Submission) -> str:
    pk = submission.fields["application_id"]
    if not pk:
        return gettext("No application has a refresh token.")
    application = None if pk == _ALL else Application.objects.filter(pk=pk).first()
    if pk != _ALL and application is None:
        raise Gone
    ended = revocations.end_for_user(
        submission.row, reason=revocations.BY_ADMINISTRATOR, application=application
    )
    return gettext("Refresh tokens that have ended: %(count)s.") % {"count": ended}


def _build_disconnect_form(user: User) -> type[forms.Form]:
    connected = [connection.application for connection in connections.get_connections(user)]
    choices = [(str(application.pk), application.name) for application in connected]
    return _build_choice(choices, gettext("No application is connected."))


def _disconnect(submission: Submission) -> str:
    application = connections.revoke(submission.row, submission.fields["application_id"])
    message = gettext("%(application)s no longer has access to the user's account.")
    return message % {"application": application.name}


def _end_all(submission: Submission) -> str:
    ended = revocations.end_for_application(submission.row, reason=revocations.BY_ADMINISTRATOR)
    return gettext("Refresh tokens that have ended: %(count)s.") % {"count": ended}


def _build_user_panels(user: User) -> list[Panel]:
    rows: list[tuple[Any, ...]] = [
        (
            link(connection.application),
            format_time(connection.since),
            format_time(connection.last_used_at) if connection.last_used_at else "-",
        )
        for connection in connections.get_connections(user)
    ]
    headings = (gettext("Application"), gettext("Since"), gettext("Refresh token last used"))
    ends = ("end-tokens", "disconnect")
    return [Panel(gettext("Applications with access"), headings, rows, ends=ends)]


register_panels(User, _build_user_panels)
register_operations(
    User,
    Operation(
        "end-tokens", _("End refresh tokens"),
        _("The application gets no new tokens until the user signs in to it again. What the user agreed to "
        "stays."),
        _end_tokens, form_for=_build_tokens_form, is_destructive=True,
    ),
    Operation(
        "disconnect", _("Disconnect application"),
        _("Ends the application's tokens and the user's consent. If the user signs in to it again, it asks "
        "for consent again."),
        _disconnect, form_for=_build_disconnect_form, is_destructive=True,
    ),
)  # fmt: skip
register_operations(
    Application,
    Operation(
        "end-tokens", _("End all refresh tokens"),
        _("All users have to sign in to the application again. Their sessions and consents stay."),
        _end_all, is_possible=lambda application: application.type != Application.Type.MACHINE,
        is_destructive=True, has_own_transactions=True, impact=impacts.measure_end,
    ),
)  # fmt: skip

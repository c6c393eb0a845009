"""*Try it* on the page of a social connector: the administrator signs in at the provider."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from identity.core import tenancy
from identity.operator_kit import routes
from identity.operator_kit.extensions import register_operations
from identity.operator_kit.operations import Operation, Return, ShowSite, Submission
from identity.submissions.shown_once import Viewer
from interaction.connectors.models import Connector
from interaction.journeys.social import trial
from interaction.journeys.social.provider import LONGEST_PARAMETER, AuthorizationResponse

_NAME: Final = "try"
_PARAMETERS: Final = ("state", "code", "error", "iss")


class AnswerForm(forms.Form):
    """The answer of a provider, as the callback passes it on."""

    state = forms.CharField(max_length=200)
    code = forms.CharField(required=False, max_length=LONGEST_PARAMETER)
    error = forms.CharField(required=False, max_length=200)
    iss = forms.CharField(required=False, max_length=2048)
    name = forms.CharField(required=False, max_length=LONGEST_PARAMETER)
    shared = forms.CharField(required=False, max_length=1)


def _begin(submission: Submission) -> ShowSite:
    return ShowSite(trial.begin(submission.row, _viewer(submission)))


def _finish(submission: Submission) -> dict[str, Any]:
    sent = submission.fields
    answer = AuthorizationResponse(code=sent["code"], error=sent["error"], iss=sent["iss"])
    return trial.finish(
        submission.row,
        _viewer(submission),
        state=sent["state"],
        answer=answer,
        is_shared=bool(sent["shared"]),
        sealed_name=sent["name"],
    )


def _viewer(submission: Submission) -> Viewer:
    if submission.viewer is None:
        raise AssertionError("only the page of an operation tries a connector")
    return submission.viewer


def get_url(
    callback: UUID | None, state: trial.TrialState, parameters: Mapping[str, str], sealed_name: str
) -> str:
    """Return the URL to which a callback passes on the answer to a trial.

    The URL is below the page of the callback's connector. Older connectors share a callback that belongs to
    none of them. For these, the state names the connector.
    """
    sent = {name: parameters[name] for name in _PARAMETERS if parameters[name]}
    sent |= {} if callback else {"shared": "1"}
    sent |= {"name": sealed_name} if sealed_name else {}
    name = f"admin:{routes.url_name(Connector, 'operate')}"
    path = reverse(name, args=[callback or state.connector, _NAME]).removeprefix(tenancy.active().prefix)
    return f"{path}?{urlencode(sent)}"


register_operations(
    Connector,
    Operation(
        _NAME, _("Try it"),
        _("You sign in at the provider in a new tab, then see what the provider says about you, and what a "
        "sign-in would do. No user is created, linked or signed in."),
        _begin, is_possible=lambda connector: connector.type == Connector.Type.SOCIAL,
        has_own_transactions=True, sentence=_("Try {name}"),
        returns=Return(AnswerForm, _finish, "admin/connector_trial.html"),
    ),
)  # fmt: skip

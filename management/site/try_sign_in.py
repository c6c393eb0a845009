"""*Try a sign-in* on the page of an application: what it would get if a user signed in to it now."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.extensions import register_card, register_operations
from identity.operator_kit.operations import Operation, Return, ShowSite, Submission
from identity.operator_kit.panels import Card
from identity.sessions import cookies
from identity.submissions.shown_once import Viewer
from management.site.target_form import TargetForm
from oidc.applications.models import Application
from oidc.applications.page_sections import QUICK_START
from oidc.provider.trial import callback, sign_in
from oidc.provider.trial.sign_in import AuthorizationResponse

_MACHINE = _(
    "You cannot try a sign-in here: no user signs in to a service (machine-to-machine). It gets its tokens "
    "with its client ID and secret."
)
_NO_CODES = _(
    "You cannot try a sign-in here: the application's grant types do not include authorization_code, so no "
    "user can sign in to it."
)


class RequestForm(TargetForm):
    """What the application would put into its authorization request."""

    scope = forms.CharField(max_length=2048, initial="openid profile email", label=_("Scope"))
    signs_in_again = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Show the sign-in page"),
        help_text=_("Otherwise a user who is signed in to this tenant in this browser is not asked again."),
    )

    field_order = ("scope", "organization_id", "resource", "signs_in_again")


class AnswerForm(forms.Form):
    """The authorization response."""

    state = forms.CharField(max_length=200)
    code = forms.CharField(required=False, max_length=200)
    error = forms.CharField(required=False, max_length=200)
    error_description = forms.CharField(required=False, max_length=1000)
    iss = forms.CharField(required=False, max_length=2048)


def _begin(submission: Submission) -> ShowSite:
    viewer, request = _get_sender(submission)
    sent, answer = submission.fields, HttpResponse()
    browser = cookies.get_browser(request) or cookies.new_browser(answer)
    asked = {name: sent[name] for name in ("scope", "organization_id", "resource") if sent[name]}
    asked |= {"prompt": "login"} if sent["signs_in_again"] else {}
    secret_hash = cookies.get_newest_proof(request)
    url = sign_in.begin(submission.row, viewer, browser=browser, asked=asked, secret_hash=secret_hash)
    return ShowSite(url, answer.cookies)


def _finish(submission: Submission) -> dict[str, Any]:
    viewer, request = _get_sender(submission)
    sent = submission.fields
    answer = AuthorizationResponse(sent["code"], sent["error"], sent["error_description"], sent["iss"])
    session = cookies.current_session(request)
    return sign_in.finish(submission.row, viewer, state=sent["state"], answer=answer, session=session)


def _get_sender(submission: Submission) -> tuple[Viewer, HttpRequest]:
    if submission.viewer is None or submission.request is None:
        raise AssertionError("only the page of an operation tries a sign-in")
    return submission.viewer, submission.request


def _is_possible(application: Application) -> bool:
    return not _get_obstacle(application)


def _get_obstacle(application: Application) -> str | Promise:
    """Return why no user can sign in to an application at all; an empty text if users can."""
    if application.type == Application.Type.MACHINE:
        return _MACHINE
    return "" if "authorization_code" in application.grant_types else _NO_CODES


def build_card(application: Application, _urls: Mapping[str, str]) -> Card:
    """Return the card that says why there is no button. If there is a button, the card is empty."""
    return Card("admin/no_trial.html", _get_obstacle(application), QUICK_START)


register_operations(
    Application,
    Operation(
        callback.OPERATION, _("Try a sign-in"),
        _("You sign in as a user in a new tab, with this user's own password or code, then see what the "
        "application would get: the claims of the tokens and of userinfo. The tokens are revoked before "
        "they are shown."),
        _begin, form=RequestForm, is_possible=_is_possible, has_own_transactions=True,
        sentence=_("Try a sign-in to {name}"), section=QUICK_START,
        returns=Return(AnswerForm, _finish, "admin/sign_in_trial.html"),
    ),
)  # fmt: skip
register_card(Application, build_card)

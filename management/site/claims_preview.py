"""The operation that shows which claims an application would get about a user."""

import json
from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.extensions import register_operations
from identity.operator_kit.operations import Operation, ShowPanels, Submission
from identity.operator_kit.panels import Panel
from identity.users.user_lines import find_user_ids
from management.site.target_form import TargetForm
from oidc.applications.models import Application
from oidc.applications.page_sections import PERMISSIONS
from oidc.provider import claims_preview

_TITLES: Final = {"id_token": _("ID token"), "userinfo": _("Userinfo"), "access_token": _("Access token")}


class PreviewForm(TargetForm):
    """The user, and what a token request would name."""

    user_id = forms.CharField(max_length=256, label=_("User"), help_text=_("Username, email, phone or ID"))
    scope = forms.CharField(max_length=2048, initial="openid profile email roles", label=_("Scope"))

    field_order = ("user_id", "scope", "organization_id", "resource")


def _show(submission: Submission) -> ShowPanels:
    (user_id,) = find_user_ids(" ".join(submission.fields["user_id"].split()), "user_id")
    explained = claims_preview.build(submission.row, **{**submission.fields, "user_id": user_id})
    return ShowPanels([_build_panel(str(title), explained[place]) for place, title in _TITLES.items()])


def _build_panel(title: str, claims: claims_preview.Explained) -> Panel:
    rows = [(name, _display(claim["value"]), claim["source"]) for name, claim in sorted(claims.items())]
    headings = (gettext("Claim"), gettext("Value"), gettext("Source"))
    return Panel(title, headings, rows, empty=gettext("No claims."))


def _display(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


register_operations(
    Application,
    Operation(
        "claims-preview", _("Show claims of a user"),
        _("What the application would get about a user, and where each claim comes from. Nothing is issued."),
        _show, form=PreviewForm, is_possible=lambda row: row.type != Application.Type.MACHINE,
        permission="users.view_user", reads=True, section=PERMISSIONS,
    ),
)  # fmt: skip

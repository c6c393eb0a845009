"""The branding of an application or an organization, on its page of the operators' site."""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, Final

from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from identity.operator_kit import extensions
from identity.operator_kit.operations import Draft, Operation, Submission, validate
from identity.operator_kit.panels import Card, Values
from identity.operator_kit.texts import Text
from identity.organizations import services as organizations
from identity.organizations.models import Organization
from identity.organizations.serializers import OrganizationSerializer
from interaction.experience import branding, look_form, overview, pictures, services
from interaction.experience.models import SignInExperience
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.applications.page_sections import SETTINGS
from oidc.applications.serializers import ApplicationSerializer

_NAME: Final = "branding"
_OF_APPLICATION: Final = _(
    "The pages look like this during a sign-in to the application. What is empty is as in the sign-in "
    "experience. Emails and the account page keep the tenant's look."
)
_OF_ORGANIZATION: Final = _(
    "The pages look like this during a sign-in to the organization. What is empty is as in the application "
    "or the sign-in experience. Emails and the account page keep the tenant's look."
)


def _read(serializer: Any, submission: Submission) -> dict[str, Any]:
    fields = {"branding": look_form.read_branding(submission.fields)}
    return validate(serializer, fields, submission.row)


def _save(serializer: Any, change: Callable[..., None], submission: Submission) -> str:
    fields = _read(serializer, submission)
    change(submission.row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("The branding is saved.")


def _build_draft(serializer: Any, submission: Submission) -> SignInExperience:
    own = submission.row.branding | _read(serializer, submission)["branding"]
    draft = copy(services.current())
    draft.branding = branding.overlay(draft.branding, own)
    return draft


def _build_card(section: Text, row: Any, urls: Mapping[str, str]) -> Card | None:
    if not _has_pages(row):
        return None
    lines: list[overview.Line] = (
        overview.describe_branding(row.branding, look_form.OwnLookForm)
        if row.branding
        else [(pgettext("appearance", "Look"), gettext("Same as the tenant"))]
    )
    own = Values(gettext("Branding"), urls.get(_NAME, ""), lines, level=3 if section else 2)
    return Card("admin/sections.html", [own], section)


def _has_pages(row: Any) -> bool:
    """Return whether users see pages with the row's branding."""
    return not isinstance(row, Application) or not (
        row.type == Application.Type.MACHINE or row.is_third_party
    )


def _build_operation(serializer: Any, change: Callable[..., None], text: Text, section: Text) -> Operation:
    return Operation(
        _NAME, _("Edit branding"), text, partial(_save, serializer, change), form=look_form.OwnLookForm,
        initial=lambda row: pictures.add_addresses(row.branding), section=section, is_possible=_has_pages,
        draft=Draft(SignInExperience, partial(_build_draft, serializer)),
        sentence=_("Edit branding of {name}"),
        edits=_("Branding"),
    )  # fmt: skip


def register() -> None:
    """Add the branding to the pages of applications and organizations."""
    for model, serializer, change, text, section in (
        (Application, ApplicationSerializer, applications.change, _OF_APPLICATION, SETTINGS),
        (Organization, OrganizationSerializer, organizations.change, _OF_ORGANIZATION, ""),
    ):
        operation = _build_operation(serializer, change, text, section)
        extensions.register_operations(model, operation)
        extensions.register_card(model, partial(_build_card, section))

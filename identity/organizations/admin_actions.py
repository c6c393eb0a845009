"""The operations on organizations and members on the operators' site."""

from typing import Any

from django.utils.translation import gettext

from identity.operator_kit.operations import ShowRow, Submission, validate
from identity.organizations import services
from identity.organizations.serializers import MemberSerializer, OrganizationSerializer
from identity.users.user_lines import find_user_ids


def initial_values(form: Any) -> Any:
    """Return a function that reads the initial values of a form from a row."""
    return lambda row: {name: getattr(row, name) for name in form.base_fields}


def change(submission: Submission) -> str:
    row = submission.row
    fields = validate(OrganizationSerializer, submission.fields, row)
    services.change(row, fields, expected=submission.expected, is_proven=submission.is_proven)
    return gettext("%(name)s is changed.") % {"name": row}


def remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return gettext("The organization is deleted.")


def add_members(submission: Submission) -> str:
    user_ids = find_user_ids(submission.fields["user_ids"], "user_ids")
    services.add_members(submission.row.pk, user_ids)
    return gettext("Members added: %(count)s.") % {"count": len(user_ids)}


def change_member(submission: Submission) -> str:
    fields = validate(MemberSerializer, submission.fields)
    services.change_member(submission.row, is_admin=fields["is_admin"], expected=submission.expected)
    return gettext("The member is changed.")


def remove_member(submission: Submission) -> ShowRow:
    services.remove_member(submission.row, expected=submission.expected)
    return ShowRow(gettext("The member is removed."), submission.row.organization)


def set_roles(submission: Submission) -> str:
    role_ids = submission.fields["organization_role_ids"]
    services.set_member_roles(submission.row, role_ids, expected=submission.expected)
    return gettext("The roles of the member are changed.")

"""The operations on organizations and members on the operators' site."""

from typing import Any, Final

from database import ids
from identity.core.errors import Invalid
from identity.operator_kit.operations import ShowRow, Submission, validate
from identity.organizations import services
from identity.organizations.serializers import MemberSerializer
from identity.users.models import User

_MAX_NEW_MEMBERS: Final = 200


def initial_values(form: Any) -> Any:
    """Return a function that reads the initial values of a form from a row."""
    return lambda row: {name: getattr(row, name) for name in form.base_fields}


def remove(submission: Submission) -> str:
    services.remove(submission.row, expected=submission.expected)
    return "The organization is deleted."


def add_members(submission: Submission) -> str:
    lines = [line.strip() for line in submission.fields["user_ids"].splitlines() if line.strip()]
    if len(lines) > _MAX_NEW_MEMBERS:
        raise Invalid("user_ids", f"at most {_MAX_NEW_MEMBERS} at once")
    user_ids = set(map(_find_user_id, lines))
    services.add_members(submission.row.pk, sorted(user_ids))
    return f"Members added: {len(user_ids)}."


def _find_user_id(text: str) -> str:
    """Return the id of the user with this id or identifier.

    Raises:
        Invalid: no user has it.

    """
    pk = ids.parse(text)
    users = User.objects.filter(pk=pk) if pk else User.objects.find_by_identifier(text)
    if (found := users.values_list("pk", flat=True).first()) is None:
        raise Invalid("user_ids", f"no user has the ID, username, email or phone {text[:100]}")
    return str(found)


def change_member(submission: Submission) -> str:
    fields = validate(MemberSerializer, submission.fields)
    services.change_member(submission.row, is_admin=fields["is_admin"], expected=submission.expected)
    return "The member is changed."


def remove_member(submission: Submission) -> ShowRow:
    services.remove_member(submission.row, expected=submission.expected)
    return ShowRow("The member is removed.", submission.row.organization)


def set_roles(submission: Submission) -> str:
    role_ids = submission.fields["organization_role_ids"]
    services.set_member_roles(submission.row, role_ids, expected=submission.expected)
    return "The roles of the member are changed."

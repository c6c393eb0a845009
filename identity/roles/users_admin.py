"""Giving a role to many users, and taking it from them, on the operators' site."""

from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.core import assignments
from identity.core.records import Gone
from identity.operator_kit.operations import Operation, Submission
from identity.roles import services
from identity.roles.models import Role
from identity.users.user_lines import find_user_ids
from identity.users.user_lines_form import UserLinesForm


def _add(submission: Submission) -> str:
    user_ids = find_user_ids(submission.fields["user_ids"], "user_ids")
    if not assignments.add(services.USERS, submission.row.pk, user_ids):
        raise Gone
    return _describe(services.USERS.items_of(submission.row.pk).count())


def _remove(submission: Submission) -> str:
    removed = find_user_ids(submission.fields["user_ids"], "user_ids")
    if not assignments.remove(services.USERS, submission.row.pk, removed, expected=submission.expected):
        raise Gone
    return _describe(services.USERS.items_of(submission.row.pk).count())


def _describe(number: int) -> str:
    return gettext("Users with the role now: %(count)s.") % {"count": number}


def _is_for_users(role: Role) -> bool:
    return role.type == Role.Type.USER


OPERATIONS: Final = (
    Operation(
        "add-users", _("Add users"),
        _("Gives the role to users. If one of them is unknown, nobody gets it. Issued tokens stay as they "
          "are."),
        _add, form=UserLinesForm, is_possible=_is_for_users,
    ),
    Operation(
        "remove-users", _("Remove users"),
        _("Removes the role from users. Issued tokens stay as they are."),
        _remove, form=UserLinesForm, is_possible=_is_for_users, is_destructive=True,
    ),
)  # fmt: skip

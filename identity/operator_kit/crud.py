"""Operations on rows that need no service of their own. They write as ``CrudViewSet`` does."""

from typing import Any

from django.utils.translation import gettext
from rest_framework.serializers import BaseSerializer

from audit.events import Event
from identity.core import assignments, records
from identity.core.assignments import Assignment
from identity.core.models import EditableModel
from identity.operator_kit.operations import ShowRow, Submission, validate

_Serializer = type[BaseSerializer[Any]]


def create(model: type[EditableModel], serializer: _Serializer, submission: Submission) -> ShowRow:
    row = model(**validate(serializer, submission.fields))
    records.create(row, event=Event(f"{model.__name__}.Create"), name=submission.fields.get("name", ""))
    return ShowRow(gettext("%(name)s is created.") % {"name": row}, row)


def change(serializer: _Serializer, submission: Submission) -> str:
    row = submission.row
    fields = validate(serializer, submission.fields, row)
    records.change(row, fields, event=Event(f"{type(row).__name__}.Update"), expected=submission.expected)
    return gettext("%(name)s is changed.") % {"name": row}


def remove(submission: Submission) -> str:
    row = submission.row
    records.remove(row, event=Event(f"{type(row).__name__}.Delete"), expected=submission.expected)
    return gettext("%(name)s is deleted.") % {"name": row}


def assign(assignment: Assignment, field: str, submission: Submission) -> str:
    """Replace the links of a row by those that were ticked in a field."""
    ids = submission.fields[field]
    expected, is_proven = submission.expected, submission.is_proven
    if not assignments.replace(assignment, submission.row.pk, ids, expected=expected, is_proven=is_proven):
        raise records.Gone
    return gettext("The choice is saved.")


def get_assigned(assignment: Assignment, field: str, row: Any) -> dict[str, list[str]]:
    """Return the ids of a row's links, as the initial value of a field."""
    return {field: [str(pk) for pk in assignment.items_of(row.pk).values_list("pk", flat=True)]}

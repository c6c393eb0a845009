"""Operations on rows that need no service of their own: the same writes as those of ``CrudViewSet``."""

from typing import Any

from rest_framework.serializers import BaseSerializer

from audit.events import Event
from identity.core import assignments, records
from identity.core.assignments import Assignment
from identity.core.models import EditableModel
from identity.operator_kit.operations import Done, Order, checked


def create(model: type[EditableModel], serializer: type[BaseSerializer[Any]], order: Order) -> Done:
    """Create a row."""
    row = model(**checked(serializer, order.fields))
    records.create(row, event=Event(f"{model.__name__}.Create"), name=order.fields.get("name", ""))
    return Done(f"{row} is created.", row)


def change(serializer: type[BaseSerializer[Any]], order: Order) -> str:
    """Change a row."""
    fields = checked(serializer, order.fields, order.row)
    event = Event(f"{type(order.row).__name__}.Update")
    records.change(order.row, fields, event=event, expected=order.expected)
    return f"{order.row} is changed."


def remove(order: Order) -> str:
    """Delete a row."""
    event = Event(f"{type(order.row).__name__}.Delete")
    records.remove(order.row, event=event, expected=order.expected)
    return f"{order.row} is deleted."


def assign(assignment: Assignment, order: Order, field: str) -> str:
    """Make what was ticked the whole set of links of a row."""
    if not assignments.replace(assignment, order.row.pk, order.fields[field], expected=order.expected):
        raise records.Gone
    return "The choice is saved."


def assigned(assignment: Assignment, row: Any) -> list[str]:
    """Return the ids of what a row is linked with."""
    return [str(pk) for pk in assignment.items_of(row.pk).values_list("pk", flat=True)]

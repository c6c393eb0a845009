"""Sets of links between rows: read, and replaced as a whole."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from audit import log
from audit.events import Event
from identity.core import ids, records
from identity.core.models import EditableModel, Link
from identity.core.records import UnknownIds


@dataclass(frozen=True, slots=True)
class Assignment:
    """A relation between a parent and its items, through rows of ``link``.

    ``parent`` and ``item`` name the link's foreign keys; ``allowed`` are look-ups that an
    item must pass to be linked; ``ids_field`` is what the ids are called from outside.
    """

    link: type[Link]
    parent: str
    item: str
    ids_field: str
    event: Event
    allowed: dict[str, Any] = field(default_factory=dict)

    @property
    def parents(self) -> type[EditableModel]:
        """The model of the parents."""
        return self.link._meta.get_field(self.parent).related_model  # type: ignore[return-value]

    @property
    def items(self) -> type[EditableModel]:
        """The model of the items."""
        return self.link._meta.get_field(self.item).related_model  # type: ignore[return-value]

    def of(self, parent_id: UUID) -> QuerySet[Any]:
        """Return the items of a parent, newest first."""
        links = self.link.objects.filter(**{f"{self.parent}_id": parent_id})
        linked = links.values(f"{self.item}_id")
        return self.items._default_manager.filter(pk__in=linked).order_by("-created_at", "-pk")


@transaction.atomic
def replace(
    assignment: Assignment, parent_id: UUID, given: list[str], *, expected: frozenset[int] | None = None
) -> bool:
    """Make the given ids the whole set. A repeated id counts once. False without such a parent.

    The parent's row is locked first, so that of two replacements one comes after the other
    and the result is never a mix.

    Raises:
        UnknownIds: an id is nothing in this tenant, or of the wrong kind; nothing is changed.
        records.Stale: the parent was changed since the caller read it.

    """
    if not records.touch(assignment.parents, parent_id, expected):
        return False
    wanted = _known(assignment, parent_id, given)
    links = assignment.link.objects.filter(**{f"{assignment.parent}_id": parent_id})
    links.exclude(**{f"{assignment.item}_id__in": list(wanted)}).delete()
    _link(assignment, parent_id, [item for item, linked in wanted.items() if not linked])
    _record(assignment, parent_id, list(wanted))
    return True


@transaction.atomic
def add(assignment: Assignment, parent_id: UUID, given: list[str]) -> bool:
    """Add ids to the set; those in it already stay. False without such a parent.

    Raises:
        UnknownIds: an id is nothing in this tenant, or of the wrong kind; nothing is changed.

    """
    if not records.touch(assignment.parents, parent_id, None):
        return False
    wanted = _known(assignment, parent_id, given)
    _link(assignment, parent_id, [item for item, linked in wanted.items() if not linked])
    _record(assignment, parent_id, list(wanted))
    return True


def _known(assignment: Assignment, parent_id: UUID, given: list[str]) -> dict[UUID, bool]:
    """Return the wanted items by id, and whether each is linked already."""
    parsed = {text: ids.parse(text) for text in dict.fromkeys(given)}
    linked = assignment.link.objects.filter(
        **{f"{assignment.parent}_id": parent_id, f"{assignment.item}_id": OuterRef("pk")}
    )
    found = dict(
        assignment.items._default_manager.filter(
            pk__in=[pk for pk in parsed.values() if pk is not None], **assignment.allowed
        )
        .annotate(is_linked=Exists(linked))
        .values_list("pk", "is_linked")
    )
    if unknown := [text for text, pk in parsed.items() if pk not in found]:
        raise UnknownIds(assignment.ids_field, unknown)
    return found


def _link(assignment: Assignment, parent_id: UUID, items: list[UUID]) -> None:
    """Link in one order everywhere: whoever links from the other end is waited for, not fought with."""
    assignment.link.objects.bulk_create(
        [
            assignment.link(**{f"{assignment.parent}_id": parent_id, f"{assignment.item}_id": item})
            for item in sorted(items)
        ],
        ignore_conflicts=True,
    )


def _record(assignment: Assignment, parent_id: UUID, items: list[UUID]) -> None:
    log.record(
        assignment.event,
        id=parent_id,
        fields=[assignment.ids_field],
        count=len(items),
        **{assignment.ids_field: [str(item) for item in items[:100]]},  # type: ignore[arg-type]
    )

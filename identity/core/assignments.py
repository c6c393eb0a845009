"""Sets of links between rows, which are read and replaced as a whole."""

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from audit import log
from audit.events import Event
from database import ids
from database.id_lists import among, among_selected
from database.statements import Parameter
from identity.core import records
from identity.core.errors import ServiceError
from identity.core.links import insert_links
from identity.core.models import EditableModel, Link
from identity.core.records import UnknownIds

_number: Final = attrgetter("int")  # UUIDs are compared by it, in Python


@dataclass(frozen=True, slots=True)
class Assignment:
    """A relation between a parent and its items, through rows of ``link``.

    ``parent`` and ``item`` name the link's foreign keys. ``allowed`` are look-ups that an item must match to
    be linked. ``takers`` are look-ups that a parent must match to have items (else ``refusal`` is raised).
    ``stays`` are look-ups of links that must not be removed. ``ids_field`` is the name of the ids in the API.
    """

    link: type[Link]
    parent: str
    item: str
    ids_field: str
    event: Event
    allowed: dict[str, Any] = field(default_factory=dict)
    takers: dict[str, Any] = field(default_factory=dict)
    refusal: type[ServiceError] = ServiceError
    stays: dict[str, Any] = field(default_factory=dict)

    @property
    def parents(self) -> type[EditableModel]:
        """The model of the parents."""
        return self.link._meta.get_field(self.parent).related_model  # type: ignore[return-value]

    @property
    def items(self) -> type[EditableModel]:
        """The model of the items."""
        return self.link._meta.get_field(self.item).related_model  # type: ignore[return-value]

    def of(self, parent_id: UUID | Parameter) -> QuerySet[Any]:
        """Return the items of a parent, newest first."""
        links = self.link.objects.filter(**{f"{self.parent}_id": parent_id})
        linked = links.values(f"{self.item}_id")
        return self.items._default_manager.filter(among_selected("pk", linked)).order_by("-created_at", "-pk")


@transaction.atomic
def replace(
    assignment: Assignment,
    parent_id: UUID,
    given: list[str],
    *,
    expected: frozenset[int] | None = None,
    **facts: object,
) -> bool:
    """Replace the set by the given ids, without duplicates. Return false if the parent does not exist.

    The parent's row is locked first, so that concurrent replacements run one after the other. ``facts`` are
    added to the audit entry.

    Raises:
        UnknownIds: an id is unknown in this tenant, or not allowed; nothing is changed.
        Protected: the set lacks an item that must not be removed.
        records.Stale: the parent was changed since the caller read it.
        ServiceError: the assignment's ``refusal``: a parent of this kind cannot have items.

    """
    takers = assignment.takers if given else {}
    if not records.touch(assignment.parents, parent_id, expected, **takers):
        if takers and assignment.parents._default_manager.filter(pk=parent_id).exists():
            raise assignment.refusal
        return False
    wanted = _known(assignment, parent_id, given)
    if wanted.leaves_some or not wanted.new | wanted.linked:
        wanted.others.delete()
    _link(assignment, parent_id, wanted.new)
    _record(assignment, parent_id, wanted.new | wanted.linked, **facts)
    return True


@transaction.atomic
def add(assignment: Assignment, parent_id: UUID, given: list[str]) -> bool:
    """Add ids to the set. Return false if the parent does not exist.

    Raises:
        UnknownIds: an id is unknown in this tenant, or not allowed; nothing is changed.

    """
    if not records.touch(assignment.parents, parent_id, None):
        return False
    wanted = _known(assignment, parent_id, given)
    _link(assignment, parent_id, wanted.new)
    _record(assignment, parent_id, wanted.new | wanted.linked)
    return True


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The items of the new set, by whether they are linked already, and the links to all other items."""

    linked: set[UUID]
    new: set[UUID]
    others: QuerySet[Link]
    leaves_some: bool


def _known(assignment: Assignment, parent_id: UUID, given: list[str]) -> _Wanted:
    """Look up the given ids, in one query.

    Raises:
        UnknownIds: an id is unknown in this tenant, or not allowed.
        Protected: the set lacks an item that must not be removed.

    """
    parsed = {text: ids.parse(text) for text in dict.fromkeys(given)}
    named = [pk for pk in parsed.values() if pk is not None]
    links = assignment.link.objects.filter(**{f"{assignment.parent}_id": parent_id})
    others = links.exclude(among(f"{assignment.item}_id", named))
    asked = among("pk", named) & Q(**assignment.allowed)
    if assignment.stays:
        asked |= Q(pk__in=links.filter(**assignment.stays).values(f"{assignment.item}_id"))
    rows = (
        assignment.items._default_manager.filter(asked)
        .annotate(
            is_linked=Exists(links.filter(**{f"{assignment.item}_id": OuterRef("pk")})),
            leaves_some=Exists(others),
        )
        .values_list("pk", "is_linked", "leaves_some")
    )
    linked: set[UUID] = set()
    new: set[UUID] = set()
    leaves_some = False
    for pk, is_linked, leaves_some in rows:  # noqa: B007 - the same in every row
        (linked if is_linked else new).add(pk)
    found = linked | new
    if unknown := [text for text, pk in parsed.items() if pk not in found]:
        raise UnknownIds(assignment.ids_field, unknown)
    if found - set(named):
        raise records.Protected
    return _Wanted(linked, new, others, leaves_some)


def _link(assignment: Assignment, parent_id: UUID, items: set[UUID]) -> None:
    """Insert links in the order of ids, so that concurrent requests cannot deadlock."""
    ordered = sorted(items, key=_number)
    insert_links(assignment.link, assignment.parent, parent_id, assignment.item, ordered)


def _record(assignment: Assignment, parent_id: UUID, items: set[UUID], **facts: Any) -> None:
    log.record(
        assignment.event,
        id=parent_id,
        fields=[assignment.ids_field],
        count=len(items),
        **{
            assignment.ids_field: [str(item) for item in sorted(items, key=_number)[:100]],
            **facts,
        },
    )

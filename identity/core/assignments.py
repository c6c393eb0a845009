"""Links between a row and its items, such as a role and its scopes, replaced all at once."""

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from audit import log
from audit.events import Event
from database import ids
from database.list_parameters import among, among_selected
from database.parameters import Parameter
from identity.core import records
from identity.core.errors import ServiceError
from identity.core.links import insert_links
from identity.core.models import EditableModel, Link
from identity.core.records import UnknownIds

_number: Final = attrgetter("int")  # Python orders UUIDs by this number


@dataclass(frozen=True, slots=True)
class Assignment:
    """A many-to-many relation between parents and items, through rows of ``link``.

    ``parent`` and ``item`` name the link's foreign keys. ``ids_field`` names the list of item ids in the API.
    The filters are Django look-ups. An item must match ``item_filter`` to be linked. A parent must match
    ``parent_filter`` to have items, or ``refusal`` is raised. Links that match ``protected_filter`` cannot be
    removed.
    """

    link: type[Link]
    parent: str
    item: str
    ids_field: str
    event: Event
    item_filter: dict[str, Any] = field(default_factory=dict)
    parent_filter: dict[str, Any] = field(default_factory=dict)
    refusal: type[ServiceError] = ServiceError
    protected_filter: dict[str, Any] = field(default_factory=dict)

    @property
    def parents(self) -> type[EditableModel]:
        """The model of the parents."""
        return self.link._meta.get_field(self.parent).related_model  # type: ignore[return-value]

    @property
    def items(self) -> type[EditableModel]:
        """The model of the items."""
        return self.link._meta.get_field(self.item).related_model  # type: ignore[return-value]

    def items_of(self, parent_id: UUID | Parameter) -> QuerySet[Any]:
        """Return the items of a parent, newest first."""
        links = self.link.objects.filter(**{f"{self.parent}_id": parent_id})
        linked = links.values(f"{self.item}_id")
        return self.items._default_manager.filter(among_selected("pk", linked)).order_by("-created_at", "-pk")


@transaction.atomic
def replace(
    assignment: Assignment,
    parent_id: UUID,
    item_ids: list[str],
    *,
    expected: frozenset[int] | None = None,
    **facts: object,
) -> bool:
    """Make these the only items of the parent. Return false if the parent does not exist.

    The parent's row is locked first, so that concurrent replacements run one after the other. ``facts`` are
    added to the audit entry.

    Raises:
        UnknownIds: an id is unknown in this tenant, or its row does not match ``item_filter``.
        Protected: the ids lack an item whose link cannot be removed.
        records.Stale: the parent was changed since the caller read it.
        ServiceError: the assignment's ``refusal``: the parent does not match ``parent_filter``.

    """
    parent_filter = assignment.parent_filter if item_ids else {}
    if not records.increment_version(assignment.parents, parent_id, expected, **parent_filter):
        if parent_filter and assignment.parents._default_manager.filter(pk=parent_id).exists():
            raise assignment.refusal
        return False
    items = _find_items(assignment, parent_id, item_ids)
    # Without items, no row says whether the parent has other ones.
    if items.has_others or not items.new | items.linked:
        items.other_links.delete()
    _link(assignment, parent_id, items.new)
    _record(assignment, parent_id, items.new | items.linked, **facts)
    return True


@transaction.atomic
def add(assignment: Assignment, parent_id: UUID, item_ids: list[str]) -> bool:
    """Add items to the parent. Return false if the parent does not exist.

    Raises:
        UnknownIds: an id is unknown in this tenant, or its row does not match ``item_filter``.

    """
    if not records.increment_version(assignment.parents, parent_id, None):
        return False
    items = _find_items(assignment, parent_id, item_ids)
    _link(assignment, parent_id, items.new)
    _record(assignment, parent_id, items.new | items.linked)
    return True


@transaction.atomic
def remove(
    assignment: Assignment, parent_id: UUID, item_ids: list[str], *, expected: frozenset[int] | None = None
) -> bool:
    """Remove items from the parent, which keeps all others. Return false if the parent does not exist.

    Links that match ``protected_filter`` stay.

    Raises:
        records.Stale: the parent was changed since the caller read it.

    """
    if not records.increment_version(assignment.parents, parent_id, expected):
        return False
    links = assignment.link.objects.filter(**{f"{assignment.parent}_id": parent_id})
    named = [pk for text in item_ids if (pk := ids.parse(text)) is not None]
    links.filter(among(f"{assignment.item}_id", named)).exclude(**assignment.protected_filter).delete()
    _record(assignment, parent_id, set(links.values_list(f"{assignment.item}_id", flat=True)))
    return True


@dataclass(frozen=True, slots=True)
class _Items:
    """Items by whether the parent has them already, and the parent's links to other items."""

    linked: set[UUID]
    new: set[UUID]
    other_links: QuerySet[Link]
    has_others: bool


def _find_items(assignment: Assignment, parent_id: UUID, item_ids: list[str]) -> _Items:
    """Look up all items in one query.

    Raises:
        UnknownIds: an id is unknown in this tenant, or its row does not match ``item_filter``.
        Protected: the ids lack an item whose link cannot be removed.

    """
    parsed = {text: ids.parse(text) for text in dict.fromkeys(item_ids)}
    named = [pk for pk in parsed.values() if pk is not None]
    links = assignment.link.objects.filter(**{f"{assignment.parent}_id": parent_id})
    other_links = links.exclude(among(f"{assignment.item}_id", named))
    selected = among("pk", named) & Q(**assignment.item_filter)
    if assignment.protected_filter:
        selected |= Q(pk__in=links.filter(**assignment.protected_filter).values(f"{assignment.item}_id"))
    rows = (
        assignment.items._default_manager.filter(selected)
        .annotate(
            is_linked=Exists(links.filter(**{f"{assignment.item}_id": OuterRef("pk")})),
            has_others=Exists(other_links),
        )
        .values_list("pk", "is_linked", "has_others")
    )
    linked: set[UUID] = set()
    new: set[UUID] = set()
    has_others = False
    for pk, is_linked, has_others in rows:  # noqa: B007 - the same in every row
        (linked if is_linked else new).add(pk)
    found = linked | new
    if unknown := [text for text, pk in parsed.items() if pk not in found]:
        raise UnknownIds(assignment.ids_field, unknown)
    if found - set(named):
        raise records.Protected
    return _Items(linked, new, other_links, has_others)


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

"""Links between a row and its items, such as a role and its scopes, replaced all at once."""

from collections.abc import Callable, Collection, Iterator
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
from identity.core.links import delete_other_links, insert_links
from identity.core.models import EditableModel, Link
from identity.core.proof import TokenTooOld
from identity.core.records import UnknownIds

_MAX_IDS: Final = 100  # in a list of an audit entry
_number: Final = attrgetter("int")  # Python orders UUIDs by this number


@dataclass(frozen=True, slots=True)
class Assignment:
    """A many-to-many relation between parents and items, through rows of ``link``.

    ``parent`` and ``item`` name the link's foreign keys. ``ids_field`` names the list of item ids in the API.
    The filters are Django look-ups. An item must match ``item_filter`` to be linked. A parent must match
    ``parent_filter`` to have items, or ``refusal`` is raised. Links that match ``protected_filter`` cannot be
    removed. If ``items_are_users``, the log finds an entry by the user who was added or removed.
    ``needs_proof`` returns whether only an administrator who has signed in recently may make these ids the
    items of a parent.
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
    items_are_users: bool = False
    needs_proof: Callable[[UUID, list[str]], bool] | None = None

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
    is_proven: bool,
    **facts: object,
) -> bool:
    """Make these the only items of the parent. Return false if the parent does not exist.

    The parent's row is locked first, so that concurrent replacements run one after the other. ``is_proven``
    is whether the administrator who makes the change has signed in recently. ``facts`` are added to the audit
    entries.

    Raises:
        TokenTooOld: the change needs a proof, and ``is_proven`` is false.
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
    if not is_proven and assignment.needs_proof is not None and assignment.needs_proof(parent_id, item_ids):
        raise TokenTooOld
    items = _find_items(assignment, parent_id, item_ids)
    given, removed = items.new | items.linked, set[UUID]()
    # Without items, no row says whether the parent has other ones.
    if items.has_others or not given:
        removed = delete_other_links(assignment.link, assignment.parent, parent_id, assignment.item, given)
    _link(assignment, parent_id, items.new)
    _record(assignment, parent_id, given, added=items.new, removed=removed, **facts)
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
    _record(assignment, parent_id, items.new | items.linked, added=items.new)
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
    removable = links.filter(among(f"{assignment.item}_id", named)).exclude(**assignment.protected_filter)
    removed = set(removable.values_list(f"{assignment.item}_id", flat=True))
    if removed:
        links.filter(among(f"{assignment.item}_id", removed)).delete()
    kept = set(links.values_list(f"{assignment.item}_id", flat=True))
    _record(assignment, parent_id, kept, removed=removed)
    return True


@dataclass(frozen=True, slots=True)
class _Items:
    """The named items that the parent has already, those that it lacks, and whether it has other items."""

    linked: set[UUID]
    new: set[UUID]
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
    selected = among("pk", named) & Q(**assignment.item_filter)
    if assignment.protected_filter:
        selected |= Q(pk__in=links.filter(**assignment.protected_filter).values(f"{assignment.item}_id"))
    rows = (
        assignment.items._default_manager.filter(selected)
        .annotate(
            is_linked=Exists(links.filter(**{f"{assignment.item}_id": OuterRef("pk")})),
            has_others=Exists(links.exclude(among(f"{assignment.item}_id", named))),
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
    return _Items(linked, new, has_others)


def _link(assignment: Assignment, parent_id: UUID, items: set[UUID]) -> None:
    """Insert links in the order of ids, so that concurrent requests cannot deadlock."""
    ordered = sorted(items, key=_number)
    insert_links(assignment.link, assignment.parent, parent_id, assignment.item, ordered)


def _record(
    assignment: Assignment,
    parent_id: UUID,
    items: set[UUID],
    *,
    added: Collection[UUID] = (),
    removed: Collection[UUID] = (),
    **facts: Any,
) -> None:
    """Record who or what was added and removed. ``items`` are those that the parent has now.

    An entry has at most ``_MAX_IDS`` changes, and only one if the items are users. The first entry also has
    the items, at most the first ``_MAX_IDS`` of them.
    """
    log.record_all(assignment.event, _describe(assignment, parent_id, items, added, removed, facts))


def _describe(  # noqa: PLR0913, PLR0917 - what an entry says
    assignment: Assignment,
    parent_id: UUID,
    items: set[UUID],
    added: Collection[UUID],
    removed: Collection[UUID],
    facts: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Yield the facts of each entry that ``_record`` writes."""
    changes = [("added", pk) for pk in sorted(added, key=_number)]
    changes += [("removed", pk) for pk in sorted(removed, key=_number)]
    size = 1 if assignment.items_are_users else _MAX_IDS
    everything: dict[str, Any] = {"id": parent_id, "fields": [assignment.ids_field], "count": len(items)}
    first = {assignment.ids_field: [str(pk) for pk in sorted(items, key=_number)[:_MAX_IDS]]}
    for start in range(0, len(changes) or 1, size):
        chunk = changes[start : start + size]
        named = {name: [str(pk) for change, pk in chunk if change == name] for name in ("added", "removed")}
        about = {"about": chunk[0][1]} if assignment.items_are_users and chunk else {}
        yield everything | named | about | facts | (first if start == 0 else {})

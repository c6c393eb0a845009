"""What a migration may do while nodes of the release before serve. docs/upgrades.md has it in words.

``problems`` reads one migration and what the schema was before it; nothing is applied.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import migrations, models
from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED

from database.new_checks import AddCheckOfNewColumns
from database.online_index import AddIndexOnline

Name = tuple[str, str]

_TAKE_AWAY = (
    operations.RemoveField,
    operations.DeleteModel,
    operations.RenameField,
    operations.RenameModel,
    operations.AlterModelTable,
)
_TIE = (operations.AddConstraint, operations.AlterUniqueTogether)


@dataclass
class History:
    """All migrations, and which of them a release has brought out."""

    all: dict[Name, Migration]
    released: set[Name] = field(default_factory=set)

    @property
    def has_releases(self) -> bool:
        return bool(self.released)


def problems(name: Name, migration: Migration, before: ProjectState, history: History) -> list[str]:
    """Return the problems of a migration. Those of the first release and initial ones have none."""
    kind = getattr(migration, "kind", None)
    if migration.initial or name in history.released or (kind is None and not history.has_releases):
        return []
    if kind == "expand":
        return [*_after_a_contract(name, history), *_breaks(name[0], migration, before)]
    if kind == "contract":
        return list(_too_early(migration, history))
    return ['must say kind = "expand" or kind = "contract"']


def _too_early(migration: Migration, history: History) -> Iterator[str]:
    completes: Iterable[Name] = getattr(migration, "completes", ())
    if not completes:
        yield "a contract must name the expand migrations that it completes: completes = [(app, name)]"
    for name in completes:
        expand = history.all.get(name)
        if expand is None:
            yield f"completes {name}, which is not there"
        elif expand.initial is not True and getattr(expand, "kind", "expand") != "expand":
            yield f"completes {name}, which is no expand migration"
        elif name not in history.released:
            yield f"comes in the same release as {name}, which it completes: older nodes still serve"


def _after_a_contract(name: Name, history: History) -> Iterator[str]:
    for needed in history.all[name].dependencies:
        if getattr(history.all.get(needed), "kind", None) == "contract" and needed not in history.released:
            yield f"builds on the contract {needed} of the same release, which waits until all nodes are new"


def _breaks(app: str, migration: Migration, before: ProjectState) -> Iterator[str]:
    yield from _half_done(migration)
    state, new = before.clone(), set[str]()
    replaced = list(_removed_constraints(app, migration, before))
    for operation in migration.operations:
        if not _is_weaker(operation, replaced):
            yield from _break(app, operation, state, new, migration)
        if isinstance(operation, operations.CreateModel):
            new.add(operation.name_lower)
        operation.state_forwards(app, state)


def _removed_constraints(
    app: str, migration: Migration, before: ProjectState
) -> Iterator[tuple[str, models.UniqueConstraint]]:
    """The constraints that a migration removes, each with its model."""
    for operation in migration.operations:
        if isinstance(operation, operations.RemoveConstraint):
            model = operation.model_name.lower()
            for constraint in before.models[app, model].options["constraints"]:
                if constraint.name == operation.name and isinstance(constraint, models.UniqueConstraint):
                    yield model, constraint


def _is_weaker(operation: Operation, replaced: list[tuple[str, models.UniqueConstraint]]) -> bool:
    """Whether a constraint refuses nothing that a removed one allowed, so that older nodes notice nothing."""
    new = getattr(operation, "constraint", None)
    if not isinstance(operation, operations.AddConstraint) or not isinstance(new, models.UniqueConstraint):
        return False
    return any(
        model == operation.model_name.lower()
        and set(old.fields) <= set(new.fields)
        and _terms(old.condition) <= _terms(new.condition)
        for model, old in replaced
    )


def _terms(condition: models.Q | None) -> set[Any]:
    """What must all be true; one unknown term stands for anything but a plain AND."""
    if condition is None:
        return set()
    if condition.connector != models.Q.AND or condition.negated:
        return {condition}
    return set(condition.children)


def _half_done(migration: Migration) -> Iterator[str]:
    if migration.atomic:
        return
    for operation in migration.operations:
        if not isinstance(operation, AddIndexOnline | operations.RunPython):
            yield (
                f"{type(operation).__name__} with atomic = False cannot be repeated when it was interrupted: "
                "give it a migration of its own"
            )


def _break(
    app: str, operation: Operation, state: ProjectState, new: set[str], migration: Migration
) -> Iterator[str]:
    said = type(operation).__name__
    model = str(getattr(operation, "model_name", None) or getattr(operation, "name", "")).lower()
    if isinstance(operation, operations.SeparateDatabaseAndState):
        for inner in operation.database_operations:
            yield from _break(app, inner, state, new, migration)
    elif isinstance(operation, operations.RunPython | operations.RunSQL):
        if not operation.reversible:
            yield f"{said} needs a reverse"
    elif model not in new:
        yield from _break_of_a_table(operation, model, migration)
        if isinstance(operation, operations.AlterField):
            yield from _altered(operation, state.models[app, model].fields[operation.name])


def _break_of_a_table(operation: Operation, model: str, migration: Migration) -> Iterator[str]:
    said = type(operation).__name__
    if isinstance(operation, _TAKE_AWAY):
        yield f"{said} of {model}: the release before still uses it"
    elif isinstance(operation, AddCheckOfNewColumns):
        if not _columns(operation.constraint) <= _added_columns(migration, model):
            yield f"{said} on {model}: the release before may write what breaks it"
    elif isinstance(operation, _TIE):
        yield f"{said} on {model}: the release before may write what breaks it"
    elif isinstance(operation, AddIndexOnline):
        if migration.atomic:
            yield "AddIndexOnline needs atomic = False"
    elif isinstance(operation, operations.AddIndex):
        yield f"{said} on {model} stops writers: use database.online_index.AddIndexOnline"
    elif isinstance(operation, operations.AddField):
        yield from _added(operation)


def _columns(check: Any) -> set[str]:
    """The columns of which a check speaks."""
    if isinstance(check, models.CheckConstraint):
        return _columns(check.condition)
    if isinstance(check, models.Q):
        return set().union(*map(_columns, check.children))
    return {check[0].partition("__")[0]}


def _added_columns(migration: Migration, model: str) -> set[str]:
    """The columns that a migration adds to a table."""
    added = (operation for operation in migration.operations if isinstance(operation, operations.AddField))
    return {operation.name for operation in added if operation.model_name_lower == model}


def _added(operation: operations.AddField) -> Iterator[str]:
    column: Any = operation.field
    if column.many_to_many:
        return
    said = f"AddField {operation.model_name}.{operation.name}"
    if not column.null and column.db_default is NOT_PROVIDED:
        yield f"{said}: the release before does not fill it; make it null or give it a db_default"
    if column.unique or column.db_index:
        yield f"{said} stops writers while its index is built: leave it out, then AddIndexOnline"


def _altered(operation: operations.AlterField, before: Any) -> Iterator[str]:
    after: Any = operation.field
    said = f"AlterField {operation.model_name}.{operation.name}"
    if before.null and not after.null:
        yield f"{said}: the release before may write NULL"
    if after.unique and not before.unique:
        yield f"{said}: the release before may write a value twice"
    if after.db_index and not before.db_index:
        yield f"{said} stops writers while its index is built: AddIndexOnline"
    if before.db_default is not NOT_PROVIDED and after.db_default is NOT_PROVIDED:
        yield f"{said}: the release before may rely on its db_default"
    if before.db_column != after.db_column:
        yield f"{said}: the release before knows another column"
    if _type(before) != _type(after):
        yield f"{said} changes its type, under statements that older nodes have prepared"


def _type(column: Any) -> tuple[Any, ...]:
    return (
        column.get_internal_type(),
        column.max_length,
        *(getattr(column, name, None) for name in ("max_digits", "decimal_places")),
    )


def made(*done: Operation, **attributes: Any) -> Migration:
    """A migration of the app ``shop``, as a file would have it."""
    migration: Migration = type(
        "Migration", (migrations.Migration,), {"operations": list(done), **attributes}
    )("0002_sample", "shop")
    return migration


def shop() -> ProjectState:
    """What there is before a sample: goods with a name, a price that may be unknown, and a code."""
    state = ProjectState()
    fields: list[tuple[str, models.Field[Any, Any]]] = [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=64)),
        ("price", models.IntegerField(null=True)),
        ("code", models.CharField(max_length=8, db_default="")),
    ]
    operations.CreateModel("Good", fields).state_forwards("shop", state)
    return state

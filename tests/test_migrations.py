"""Migrations leave nodes of the release before at work, and the rules that see to it do see what is wrong."""

from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader

from database.new_checks import AddCheckOfNewColumns
from database.online_index import AddIndexOnline
from tests.support import releases
from tests.support.migration_rules import History, made, problems, shop

ROOT = Path(__file__).resolve().parent.parent
OURS = {
    config.label for config in apps.get_app_configs() if Path(config.path).is_relative_to(ROOT)
    and ".venv" not in config.path
}  # fmt: skip
INDEX = models.Index(fields=["name"], name="good_name")
BASE = ("shop", "0001_initial")


def released() -> set[tuple[str, str]]:
    """The migrations that a release has brought out, by the last of each app that its row names."""
    last = {(row.app, row.migration) for row in releases.table()}
    return {
        (app, name)
        for app, name in MigrationLoader(None).disk_migrations
        if any(app == label and name <= newest for label, newest in last)
    }


def test_every_migration_of_ours_keeps_the_rules():
    loader = MigrationLoader(None)
    history = History(dict(loader.disk_migrations), released())
    ours = {name: migration for name, migration in history.all.items() if name[0] in OURS}
    assert len(ours) > 15
    assert {
        name: found
        for name, migration in ours.items()
        if (found := problems(name, migration, loader.project_state(name, at_end=False), history))
    } == {}


def found_in(
    *operations: Any, others: dict[Any, Any] | None = None, released: Any = (BASE,), **attributes: Any
) -> list[str]:
    sample = made(*operations, **attributes)
    name = ("shop", "0002_sample")
    return problems(name, sample, shop(), History({name: sample} | (others or {}), set(released)))


def nothing(*_: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (migrations.RemoveField("good", "price"), "the release before still uses it"),
        (migrations.DeleteModel("Good"), "the release before still uses it"),
        (migrations.RenameField("good", "price", "cost"), "the release before still uses it"),
        (migrations.RenameModel("Good", "Item"), "the release before still uses it"),
        (migrations.AlterModelTable("good", "items"), "the release before still uses it"),
        (migrations.AddField("good", "size", models.IntegerField(default=0)), "does not fill it"),
        (migrations.AddField("good", "size", models.IntegerField(null=True, db_index=True)), "stops writers"),
        (migrations.AddField("good", "size", models.IntegerField(null=True, unique=True)), "stops writers"),
        (migrations.AlterField("good", "price", models.IntegerField(default=0)), "may write NULL"),
        (migrations.AlterField("good", "price", models.IntegerField(db_default=0)), "may write NULL"),
        (migrations.AlterField("good", "name", models.CharField(max_length=32)), "changes its type"),
        (migrations.AlterField("good", "name", models.CharField(max_length=128)), "changes its type"),
        (migrations.AlterField("good", "name", models.TextField()), "changes its type"),
        (
            migrations.AlterField("good", "price", models.CharField(max_length=9, null=True)),
            "changes its type",
        ),
        (migrations.AlterField("good", "price", models.BigIntegerField(null=True)), "changes its type"),
        (migrations.AlterField("good", "name", models.CharField(max_length=64, unique=True)), "twice"),
        (migrations.AlterField("good", "name", models.CharField(max_length=64, db_index=True)), "index"),
        (migrations.AlterField("good", "code", models.CharField(max_length=8)), "db_default"),
        (migrations.AlterField("good", "price", models.IntegerField(null=True, db_column="p")), "column"),
        (migrations.AddIndex("good", INDEX), "AddIndexOnline"),
        (AddIndexOnline("good", INDEX), "atomic = False"),
        (
            migrations.AddConstraint("good", models.UniqueConstraint(fields=["name"], name="u")),
            "may write what breaks it",
        ),
        (
            AddCheckOfNewColumns("good", models.CheckConstraint(condition=models.Q(price__gt=0), name="c")),
            "may write what breaks it",
        ),
        (migrations.AlterUniqueTogether("good", {("name", "price")}), "may write what breaks it"),
        (migrations.RunPython(nothing), "needs a reverse"),
        (migrations.RunSQL("SELECT 1"), "needs a reverse"),
        (
            migrations.SeparateDatabaseAndState(
                database_operations=[migrations.RemoveField("good", "price")]
            ),
            "the release before still uses it",
        ),
    ],
)
def test_an_expand_migration_that_breaks_the_release_before_is_refused(operation, said):
    found = found_in(operation, kind="expand")

    assert len(found) == 1
    assert said in found[0]
    assert found_in(operation, kind="contract", completes=[BASE], others={BASE: made()}) == []


@pytest.mark.parametrize(
    "operations",
    [
        [migrations.AddField("good", "size", models.IntegerField(null=True))],
        [migrations.AddField("good", "size", models.IntegerField(db_default=1))],
        [
            migrations.AddField("good", "size", models.IntegerField(db_default=1)),
            AddCheckOfNewColumns("good", models.CheckConstraint(condition=models.Q(size__gt=0), name="c")),
        ],
        [migrations.AlterField("good", "name", models.CharField(max_length=64, null=True))],
        [migrations.RunPython(nothing, nothing)],
        [migrations.RunSQL("SELECT 1", "SELECT 2")],
        [
            migrations.CreateModel("Shelf", [("id", models.BigAutoField(primary_key=True))]),
            migrations.AddIndex("shelf", models.Index(fields=["id"], name="shelf_id")),
            migrations.AddConstraint("shelf", models.UniqueConstraint(fields=["id"], name="s")),
        ],
        [migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("good", "price")])],
    ],
)
def test_an_expand_migration_that_only_adds_passes(operations):
    assert found_in(*operations, kind="expand") == []


ONE_NAME = models.UniqueConstraint(fields=["name"], condition=models.Q(code="a"), name="one")


@pytest.mark.parametrize(
    ("weaker", "passes"),
    [
        (models.UniqueConstraint(fields=["name", "price"], condition=models.Q(code="a"), name="x"), True),
        (models.UniqueConstraint(fields=["name"], condition=models.Q(code="a", price=1), name="x"), True),
        (models.UniqueConstraint(fields=["price"], condition=models.Q(code="a"), name="x"), False),
        (models.UniqueConstraint(fields=["name", "price"], name="x"), False),
        (models.UniqueConstraint(fields=["name"], condition=models.Q(code="b"), name="x"), False),
        (models.UniqueConstraint(fields=["name"], condition=~models.Q(code="a"), name="x"), False),
        (
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(code="a") | models.Q(price=1), name="x"
            ),
            False,
        ),
        (models.CheckConstraint(condition=models.Q(code="a"), name="x"), False),
    ],
)
def test_a_constraint_may_be_replaced_by_a_weaker_one(weaker, passes):
    state = shop()
    migrations.AddConstraint("good", ONE_NAME).state_forwards("shop", state)
    name = ("shop", "0002_sample")
    sample = made(
        migrations.RemoveConstraint("good", "one"), migrations.AddConstraint("good", weaker), kind="expand"
    )

    assert (problems(name, sample, state, History({name: sample}, {BASE})) == []) is passes


def test_what_is_interrupted_can_be_repeated():
    index, column = (
        AddIndexOnline("good", INDEX),
        migrations.AddField("good", "size", models.IntegerField(null=True)),
    )

    assert found_in(index, migrations.RunPython(nothing, nothing), kind="expand", atomic=False) == []
    [said] = found_in(index, column, kind="expand", atomic=False)
    assert "cannot be repeated" in said


def test_an_index_that_is_not_needed_may_go():
    others = {("shop", "0001_index"): made(AddIndexOnline("good", INDEX), kind="expand", atomic=False)}
    state = shop()
    AddIndexOnline("good", INDEX).state_forwards("shop", state)
    name = ("shop", "0002_sample")
    sample = made(migrations.RemoveIndex("good", "good_name"), kind="expand")

    assert problems(name, sample, state, History({name: sample} | others, {BASE})) == []


def test_after_the_first_release_a_migration_says_of_what_kind_it_is():
    assert found_in() == ['must say kind = "expand" or kind = "contract"']
    assert found_in(kind="both") == ['must say kind = "expand" or kind = "contract"']
    assert found_in(initial=True) == []
    assert found_in(released=()) == [], "before it there is no release that could break"
    assert found_in(migrations.RemoveField("good", "price"), kind="expand", released=()) != []


def test_a_contract_does_not_come_in_the_release_of_its_expand():
    expand = ("shop", "0002_expand")
    others = {expand: made(kind="expand"), BASE: made(initial=True)}

    def contract(completes: Any, *released: Any) -> list[str]:
        return found_in(kind="contract", completes=completes, others=others, released=released)

    assert contract([expand], BASE, expand) == []
    assert "in the same release" in contract([expand], BASE)[0]
    assert "must name" in contract([], BASE)[0]
    assert "not there" in contract([("shop", "0009_never")], BASE)[0]


def test_an_expand_does_not_wait_behind_a_contract_of_its_release():
    before = ("shop", "0002_contract")
    others = {before: made(kind="contract", completes=[BASE])}

    said = found_in(kind="expand", others=others, dependencies=[before])

    assert len(said) == 1
    assert "builds on the contract" in said[0]
    assert found_in(kind="expand", others=others, dependencies=[before], released=(BASE, before)) == []

"""Runs of ``manage.py import_users``: a second one, one that was interrupted, and one that stores nothing."""

from typing import Any

import pytest
from django.db import IntegrityError

from audit.models import Entry
from identity.users import importing
from identity.users.models import User
from tests.support.imports import run, write


@pytest.mark.parametrize("batch", ["1", "2", "500"])
def test_a_second_run_imports_nobody_twice_however_they_were_changed(acme, batch):
    run(acme, "users.csv", "--batch", batch)
    with acme.active():
        User.objects.filter(username="dora").update(name="Doris", email="", email_key=None)
        before = list(User.objects.order_by("pk").values())
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk).count()

    again = run(acme, "users.csv", "--batch", batch)

    assert (again.summary["imported"], again.summary["present"], again.failed) == (0, 2, False)
    with acme.active():
        assert list(User.objects.order_by("pk").values()) == before
    assert Entry.objects.filter(tenant_id=acme.tenant.pk).count() == entries


def test_after_an_interruption_the_same_command_goes_on(acme, tmp_path, monkeypatch):
    people = write(tmp_path, *({"id": str(n), "username": f"p{n}"} for n in range(10)))
    calls = []

    def interrupted(batch: list[User]) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return add(batch)

    add = importing.add
    monkeypatch.setattr(importing, "add", interrupted)
    stopped = run(acme, people, "--batch", "2")
    monkeypatch.setattr(importing, "add", add)

    assert stopped.summary["imported"] == 4
    with acme.active():
        assert User.objects.count() == 4
    resumed = run(acme, people, "--batch", "2")
    assert (resumed.summary["present"], resumed.summary["imported"]) == (4, 6)
    with acme.active():
        assert User.objects.count() == 10


def test_attack_AP33_a_row_whose_email_the_database_refuses_stops_no_other(acme, tmp_path):
    long = "a@" + ".".join(["\ufdfa" * 20] * 3) + ".de"  # 1,087 characters when it is compared
    people = write(tmp_path, *({"id": mail, "email": mail} for mail in ("ada@x.org", long, "bob@x.org")))

    ran = run(acme, people, report=tmp_path / "report")

    assert (ran.summary["imported"], ran.summary["refused"]) == (2, 1)
    assert [(one["line"], one["rule"]) for one in ran.report] == [(2, "must be an email address")]
    with acme.active():
        assert set(User.objects.values_list("email", flat=True)) == {"ada@x.org", "bob@x.org"}


def test_a_batch_that_fails_leaves_neither_users_nor_entries(acme, tmp_path, monkeypatch):
    def fails(*_: Any) -> None:
        raise RuntimeError("the database went away")

    monkeypatch.setattr("audit.log.record_all", fails)
    with pytest.raises(RuntimeError):
        run(acme, "users.csv")

    with acme.active():
        assert not User.objects.exists()


def test_somebody_who_registers_at_the_same_moment_keeps_their_name(acme, tmp_path, monkeypatch):
    insert = importing._insert

    def meanwhile(_: list[User]) -> None:
        monkeypatch.setattr(importing, "_insert", insert)
        acme.user("dora")
        raise IntegrityError

    monkeypatch.setattr(importing, "_insert", meanwhile)
    ran = run(acme, "users.csv", "--format", "csv")

    assert (ran.summary["imported"], ran.summary["refused"]) == (1, 1)


def test_an_error_of_the_database_that_nobody_explains_is_not_swallowed(acme, monkeypatch):
    def fails(_: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(importing, "_insert", fails)

    with pytest.raises(IntegrityError):
        run(acme, "users.csv")


def test_a_dry_run_finds_what_is_wrong_and_stores_nothing(acme, tmp_path):
    acme.user("taken")
    people = write(
        tmp_path, *({"id": str(n), "username": name} for n, name in enumerate(["a", "b", "A", "taken", "c"]))
    )

    ran = run(acme, people, "--dry-run", "--batch", "1", report=tmp_path / "report.jsonl")

    assert (ran.summary["imported"], ran.summary["refused"], ran.failed) == (3, 2, True)
    assert [one["line"] for one in ran.report] == [3, 4]
    with acme.active():
        assert User.objects.count() == 1


def test_two_sources_of_the_same_format_do_not_hide_each_others_people(acme, tmp_path):
    write(tmp_path, {"id": "1", "username": "ann"}, name="a.jsonl")
    write(tmp_path, {"id": "1", "username": "ben"}, name="b.jsonl")

    run(acme, tmp_path / "a.jsonl", "--source", "shop")
    second = run(acme, tmp_path / "b.jsonl", "--source", "forum")

    assert second.summary["imported"] == 1


def import_both(world, folder, rows, options=()):
    first, second = (write(folder, row, name=f"{n}.jsonl") for n, row in enumerate(rows))
    run(world, first, *options)
    return run(world, second, *options, report=folder / "report")


ANOTHER = (
    "belongs to another imported user: for a file of another system, use --source, or Source on the site; "
    "if all identifiers of this user have changed since, there is nothing to do"
)


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_an_id_of_another_person_in_a_second_file_is_refused(acme, tmp_path, options):
    write(tmp_path, "id,username,email\n1,ann,ann@x.org\n2,ben,", name="a.csv")
    write(tmp_path, "id,username,email\n1,cleo,cleo@x.org\n2,,ben@x.org\n3,dan,", name="b.csv")
    run(acme, tmp_path / "a.csv")

    ran = run(acme, tmp_path / "b.csv", *options, report=tmp_path / "report")

    assert (ran.summary["imported"], ran.summary["present"], ran.summary["refused"]) == (1, 0, 2)
    assert ran.failed
    assert [(one["line"], one["id"], one["field"], one["rule"]) for one in ran.report] == [
        (2, "1", "id", ANOTHER), (3, "2", "id", ANOTHER),
    ]  # fmt: skip
    assert run(acme, tmp_path / "b.csv", "--source", "other", *options).summary["refused"] == (
        0 if options else 1
    )


@pytest.mark.parametrize("number", [0, 1])
def test_an_id_of_another_person_in_the_same_run_is_refused(acme, tmp_path, number):
    names = ("ann", "cleo", "ANN")
    people = write(tmp_path, *({"id": number, "username": name} for name in names))

    ran = run(acme, people)

    assert (ran.summary["imported"], ran.summary["present"], ran.summary["refused"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"id": 1, "username": "ann", "email": "a@x.org"}, {"id": 1, "username": "ANN", "email": "b@x.org"}),
        ({"id": 1, "username": "ann", "email": "a@x.org"}, {"id": 1, "username": "eve", "email": "A@x.org"}),
        ({"id": 1, "phone": "+44 20 7946 0000"}, {"id": 1, "phone": 442079460000}),
        (
            {"id": 1, "email": "a@x.org", "created_at": "2019-05-06T07:08:09Z"},
            {"id": 1, "email": "b@x.org", "created_at": "2019-05-06T09:08:09+02:00"},
        ),
        (
            {"id": "0c7ba2a2-7d0a-4d5e-9d0c-0f6f1f2c8a11", "email": "a@x.org"},
            {"id": "0c7ba2a2-7d0a-4d5e-9d0c-0f6f1f2c8a11", "email": "b@x.org"},
        ),
        ({"username": "ann"}, {"username": "ann"}),
    ],
)  # fmt: skip
def test_whoever_shares_an_identifier_the_creation_or_a_uuid_is_the_same_person(
    acme, tmp_path, first, second
):
    ran = import_both(acme, tmp_path, (first, second))

    assert (ran.summary["imported"], ran.summary["present"], ran.failed) == (0, 1, False)


def test_a_person_whose_id_is_an_old_identifier_is_the_same(acme, tmp_path):
    people = write(tmp_path, {"email": "ann@x.org"})
    run(acme, people)
    with acme.active():
        User.objects.update(email="new@x.org", email_key="new@x.org")

    assert run(acme, people).summary["present"] == 1


@pytest.mark.parametrize(
    ("options", "names", "outcome"),
    [
        (("--format", "django"), ("id", "username"), "refused"),
        (("--format", "logto"), ("id", "username"), "present"),
        (("--format", "auth0"), ("user_id", "username"), "present"),
    ],
)
def test_ids_that_a_system_counts_up_can_be_of_another_person(acme, tmp_path, options, names, outcome):
    files: list[Any] = [dict(zip(names, ("1", name), strict=True)) for name in ("ann", "cleo")]
    if options[1] == "django":
        files = ["id,username,password\n1,ann,!", "id,username,password\n1,cleo,!"]

    ran = import_both(acme, tmp_path, files, options)

    assert ran.summary[outcome] == 1

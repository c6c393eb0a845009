"""The database from the environment: its address and its pool."""

import stat
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import connection

from config import env
from tests.support.environment import broken_rule


class TestDatabase:
    def read(self):
        return env.database("SOME_VARIABLE", "")

    def test_sqlite_is_durable_and_waits_its_turn(self, variable, tmp_path):
        variable(f"sqlite:///{tmp_path / 'a b' / 'x.sqlite3'}".replace(" ", "%20"))

        read = self.read()

        assert read["NAME"] == tmp_path / "a b" / "x.sqlite3"
        options = read["OPTIONS"]
        assert "journal_mode=WAL" in options["init_command"]
        assert "synchronous=FULL" in options["init_command"]
        assert options["transaction_mode"] == "IMMEDIATE"

    def test_case_K17_sqlite_is_for_its_owner_alone(self, variable, tmp_path):
        variable(f"sqlite:///{tmp_path / 'x.sqlite3'}")

        self.read()

        assert stat.S_IMODE((tmp_path / "x.sqlite3").stat().st_mode) == 0o600

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="it is about the file of SQLite")
    def test_case_K17_the_one_of_these_tests_is_too_with_all_beside_it(self, address):
        path = Path(str(configured.DATABASES["default"]["NAME"]))
        files = list(path.parent.glob(f"{path.name}*"))

        assert path in files
        for file in files:
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file

    def test_postgresql_takes_its_parts_apart(self, variable):
        variable(
            "postgres://us%40er:p%3Aa%2Fs%23s@db.example:6543/na%20me?sslmode=verify-full&sslrootcert=/ca.pem"
        )

        read = self.read()

        assert (read["USER"], read["PASSWORD"]) == ("us@er", "p:a/s#s")
        assert (read["HOST"], read["PORT"], read["NAME"]) == ("db.example", 6543, "na me")
        assert read["OPTIONS"]["sslmode"] == "verify-full"
        assert read["OPTIONS"]["sslrootcert"] == "/ca.pem"

    @pytest.mark.parametrize(
        "value",
        [
            *("mysql://h/n", "gatehouse.sqlite3", "/var/x.sqlite3", "sqlite://", "sqlite:///", "sqlite:x"),
            *("sqlite://var/x.sqlite3", "sqlite:///x.sqlite3?mode=ro", "sqlite:////", "postgres://h"),
            *("postgres://h/", "postgres://h:port/n", "postgres://h:99999/n", "postgres://[::1/n"),
            *("postgres://u:pass#word@h/n", "sqlite:////proc/nope/x.sqlite3", "sqlite:////dev/null/x"),
        ],
    )
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        rule = broken_rule(env.database, "")

        assert "pass" not in rule

    def test_a_password_is_not_repeated_in_a_refusal(self, variable):
        variable("mysql://user:canary@host/name")

        assert "canary" not in broken_rule(env.database, "")


class TestPool:
    def test_threads_share_connections_that_stay_open_in_it(self, variable):
        variable("postgres://host/name?sslmode=require")

        read: Any = env.database("SOME_VARIABLE", "", pool=8)

        assert read["CONN_MAX_AGE"] == 0  # Django allows a pool no other way
        assert read["OPTIONS"]["pool"]["max_size"] == 8
        assert read["OPTIONS"]["sslmode"] == "require"

    def test_without_one_each_thread_keeps_its_own(self, variable):
        variable("postgres://host/name")

        read: Any = env.database("SOME_VARIABLE", "")

        assert read["CONN_MAX_AGE"] is None
        assert "pool" not in read["OPTIONS"]

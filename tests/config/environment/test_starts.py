"""Starts of production and development with an environment of their own, and the first administrator."""

import re
import stat

import pytest
from django.db import connection

from tests.support import server
from tests.support.environment import production, start


class TestProductionStart:
    """`manage.py check` as a process of its own, without the environment of the tests."""

    def test_a_good_environment_starts(self, tmp_path):
        answer = start(production(tmp_path), "check", "--deploy", "--fail-level", "WARNING")

        assert answer.returncode == 0, answer.stderr

    @pytest.mark.parametrize("name", ["SECRET_KEY", "ENCRYPTION_KEYS", "BASE_URL"])
    @pytest.mark.parametrize("value", [None, "", "  "], ids=["missing", "empty", "blank"])
    def test_decision_R2_a_missing_variable_is_named(self, tmp_path, name, value):
        answer = start(production(tmp_path, **{name: value}))

        assert answer.returncode != 0
        assert answer.stderr.startswith(f"{name}: is required in production")
        assert "Traceback" not in answer.stderr

    @pytest.mark.parametrize(
        ("name", "value", "rule"),
        [
            ("SECRET_KEY", "changeme" * 8, "not a default"),
            ("SECRET_KEY", "django-insecure-" + "abcdefghijklmnopqrstuvwxyz", "not a default"),
            ("SECRET_KEY", "short", "32 random characters"),
            ("ENCRYPTION_KEYS", "changeme" * 8, "not a default"),
            ("ENCRYPTION_KEYS", "A" * 43, "base64url of 32 random bytes"),
            ("ENCRYPTION_KEYS", "abc", "base64url of 32 random bytes"),
            ("ENCRYPTION_KEYS", "abc", "secrets.token_bytes(32)"),
            ("BASE_URL", "http://id.example.com", "must be https in production"),
            ("BASE_URL", "https://id.example.com/auth", "must not have a path"),
            ("BASE_URL", "https://id.example.com/t/acme", "must not have a path"),
            ("DATABASE_URL", "mysql://h/n", "must begin with sqlite:/// or postgres://"),
            ("CACHE_URL", "memcached://h", "must begin with redis://"),
            ("PORT", "http", "must be a whole number"),
            ("DEBUG", "maybe", "must be true or false"),
            ("TRUSTED_PROXIES", "10.0.0.0/8", "must be IP addresses"),
            ("PHONE_DEFAULT_REGION", "UK", "two letters of a region"),
            ("THREADS", "0", "must be from 4 to"),
            ("HASHING_CONCURRENCY", "9", "must be from 1 to 8"),
            ("HASHING_QUEUE", "16", "must be from 0 to"),
            ("WEB_CONCURRENCY", "-1", "must be from 1 to"),
            ("SESSION_IDLE_SECONDS", "1h", "must be a whole number"),
            ("ADMINISTRATOR_TOKEN_SECONDS", "0", "must be from 60 to"),
        ],
    )
    def test_decision_R2_a_bad_value_is_named_with_its_rule(self, tmp_path, name, value, rule):
        answer = start(production(tmp_path, **{name: value}))

        assert answer.returncode != 0
        last_line = answer.stderr.strip().splitlines()[-1]
        assert f"{name}: " in last_line
        assert rule in last_line

    def test_case_K10_nothing_of_development_is_made_up(self, tmp_path):
        start(production(tmp_path, SECRET_KEY=None))

        assert not (tmp_path / "secret-key").exists()
        assert not (tmp_path / "encryption-key").exists()

    @pytest.mark.parametrize(
        "changes",
        [
            {"THREADS": "4"},
            {"THREADS": "4", "WEB_CONCURRENCY": "1"},
            {"THREADS": "256", "WEB_CONCURRENCY": "1"},
            {"WEB_CONCURRENCY": "256"},
            {"HASHING_CONCURRENCY": "8"},
            {"PORT": "65535"},
        ],
        ids=str,
    )
    def test_the_defaults_fit_whatever_else_is_set(self, tmp_path, changes):
        answer = start(production(tmp_path, **changes))

        assert answer.returncode == 0, answer.stderr

    def test_djangos_debug_stays_off_whatever_is_asked(self, tmp_path):
        script = "from django.conf import settings; print(settings.DEBUG, settings.DEVELOPMENT)"

        answer = start(production(tmp_path, DEBUG="true"), "shell", "--no-imports", "-c", script)

        assert answer.stdout.split() == ["False", "True"]

    def test_cookies_are_secure_and_bound_to_the_host_under_https(self, tmp_path):
        script = "from django.conf import settings as s; print(s.CSRF_COOKIE_NAME, s.CSRF_COOKIE_SECURE)"

        answer = start(production(tmp_path), "shell", "--no-imports", "-c", script)

        assert answer.stdout.split() == ["__Host-gatehouse-csrf", "True"]


class TestDevelopmentStart:
    def test_needs_nothing_and_keeps_its_secrets_to_itself(self, tmp_path):
        environment = production(tmp_path, SECRET_KEY=None, ENCRYPTION_KEYS=None, BASE_URL=None, DEBUG="true")

        answer = start(environment)

        assert answer.returncode == 0, answer.stderr
        for name in ("secret-key", "encryption-key", "gatehouse.sqlite3"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600, name

    def test_a_second_start_finds_the_same_secrets(self, tmp_path):
        environment = production(tmp_path, SECRET_KEY=None, ENCRYPTION_KEYS=None, BASE_URL=None, DEBUG="true")
        start(environment)
        before = [(tmp_path / name).read_text() for name in ("secret-key", "encryption-key")]

        start(environment)

        assert [(tmp_path / name).read_text() for name in ("secret-key", "encryption-key")] == before


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    """An empty installation, whose file each test copies."""
    folder = tmp_path_factory.mktemp("migrated")
    if connection.vendor == "sqlite":
        server.copy_migrated(folder / "gatehouse.sqlite3")
        return folder / "gatehouse.sqlite3"
    answer = start(production(folder), "migrate", "--verbosity", "0")
    assert answer.returncode == 0, answer.stderr
    return folder / "gatehouse.sqlite3"


class TestFirstAdministrator:
    def environment(self, tmp_path, **changes):
        return production(tmp_path, ADMIN_USERNAME="root", **changes)

    @pytest.fixture
    def empty(self, migrated, tmp_path):
        target = tmp_path / "gatehouse.sqlite3"
        target.touch(0o600)
        target.write_bytes(migrated.read_bytes())
        return tmp_path

    def test_case_K16_a_generated_password_is_in_a_file_of_its_owners(self, empty):
        answer = start(self.environment(empty), "bootstrap")

        path = empty / "admin-password"
        assert answer.returncode == 0, answer.stderr
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(path.read_text().strip()) >= 12
        assert str(path) in answer.stdout
        assert path.read_text().strip() not in answer.stdout + answer.stderr

    def test_case_K16_a_second_time_makes_no_second_one(self, empty):
        start(self.environment(empty), "bootstrap")
        before = (empty / "admin-password").read_text()

        answer = start(self.environment(empty, ADMIN_PASSWORD="another password"), "bootstrap")

        assert "An administrator already exists" in answer.stdout
        assert (empty / "admin-password").read_text() == before

    def test_a_given_password_is_written_nowhere(self, empty):
        answer = start(self.environment(empty, ADMIN_PASSWORD="canary password"), "bootstrap")

        assert answer.returncode == 0, answer.stderr
        assert not (empty / "admin-password").exists()
        assert "canary" not in answer.stdout + answer.stderr
        assert b"canary" not in (empty / "gatehouse.sqlite3").read_bytes()

    @pytest.mark.parametrize(
        ("name", "value"),
        [("ADMIN_PASSWORD", "short"), ("ADMIN_PASSWORD", "x" * 257), ("ADMIN_USERNAME", "a b")],
        ids=["short", "long", "name"],
    )
    def test_decision_R2_a_bad_name_or_password_is_named(self, empty, name, value):
        answer = start(self.environment(empty) | {name: value}, "bootstrap")

        assert answer.returncode != 0
        assert re.search(rf"{name}: must ", answer.stderr.strip().splitlines()[-1])
        assert value not in answer.stderr or name == "ADMIN_USERNAME"

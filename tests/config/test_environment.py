"""Settings from the environment: what is refused, and that the message names what to change."""

import base64
import os
import re
import secrets
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from config import encryption_keys, env
from tests.support import server

KEY = base64.urlsafe_b64encode(bytes(range(32))).decode()
OTHER_KEY = base64.urlsafe_b64encode(bytes(range(100, 132))).decode()


@pytest.fixture
def variable(monkeypatch):
    """Set the variable that the readers of a test read."""
    return lambda value: monkeypatch.setenv("SOME_VARIABLE", value)


def is_refused(reader, *arguments, **options):
    """Check that a reader says which variable is wrong, and return the rule."""
    with pytest.raises(ImproperlyConfigured) as refusal:
        reader("SOME_VARIABLE", *arguments, **options)
    name, _, rule = str(refusal.value).partition(": ")
    assert name == "SOME_VARIABLE"
    assert rule
    return rule


class TestText:
    def test_white_space_around_it_does_not_count(self, variable):
        variable("  a b\n")

        assert env.text("SOME_VARIABLE") == "a b"

    @pytest.mark.parametrize("value", ["", " ", "\n"])
    def test_an_empty_one_is_none(self, variable, value):
        variable(value)

        assert env.text("SOME_VARIABLE", "default") == "default"
        assert env.integer("SOME_VARIABLE", 7) == 7
        assert env.flag("SOME_VARIABLE", default=True) is True
        assert env.listing("SOME_VARIABLE") == []
        assert env.addresses("SOME_VARIABLE") == set()
        assert env.region("SOME_VARIABLE") == ""


class TestFlag:
    @pytest.mark.parametrize("value", ["true", "TRUE", "True", "1", "yes", "on", " on "])
    def test_yes(self, variable, value):
        variable(value)

        assert env.flag("SOME_VARIABLE") is True

    @pytest.mark.parametrize("value", ["false", "False", "0", "no", "OFF"])
    def test_no(self, variable, value):
        variable(value)

        assert env.flag("SOME_VARIABLE", default=True) is False

    @pytest.mark.parametrize("value", ["maybe", "2", "t", "y", "truee", "-1", "null"])
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        assert value in is_refused(env.flag)


class TestInteger:
    @pytest.mark.parametrize("value", ["1", "10", " 5 "])
    def test_within_bounds(self, variable, value):
        variable(value)

        assert env.integer("SOME_VARIABLE", 3, least=1, most=10) == int(value)

    @pytest.mark.parametrize("value", ["0", "11", "-1", "1.5", "1e1", "ten", "0x5", "5s", "9" * 400])
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        is_refused(env.integer, 3, least=1, most=10)


class TestAddresses:
    @pytest.mark.parametrize(
        ("value", "read"),
        [
            ("10.0.0.1", {"10.0.0.1"}),
            ("10.0.0.1, 10.0.0.2,", {"10.0.0.1", "10.0.0.2"}),
            ("2001:DB8::0001", {"2001:db8::1"}),
            ("::1", {"::1"}),
        ],
    )
    def test_ip_addresses_as_connections_spell_them(self, variable, value, read):
        variable(value)

        assert env.addresses("SOME_VARIABLE") == read

    @pytest.mark.parametrize(
        "value", ["10.0.0.0/8", "proxy", "localhost", "10.0.0", "10.0.0.1;10.0.0.2", "*", "10.0.0.1:80"]
    )
    def test_what_would_never_match_is_refused(self, variable, value):
        variable(value)

        is_refused(env.addresses)


class TestBaseUrl:
    @pytest.mark.parametrize(
        ("value", "read"),
        [
            ("https://id.example.com", "https://id.example.com"),
            ("https://id.example.com/", "https://id.example.com"),
            ("https://ID.Example.com:8443", "https://id.example.com:8443"),
            ("HTTPS://id.example.com", "https://id.example.com"),
            ("http://localhost:8000", "http://localhost:8000"),
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
            ("http://[::1]:8000", "http://[::1]:8000"),
            ("https://xn--exmple-cua.com", "https://xn--exmple-cua.com"),
        ],
    )
    def test_scheme_host_and_port(self, variable, value, read):
        variable(value)

        assert env.base_url("SOME_VARIABLE", "", development=False) == read

    @pytest.mark.parametrize(
        "value",
        [
            *("https://id.example.com/path", "https://id.example.com/t/acme", "https://id.example.com?x=1"),
            *("https://id.example.com#x", "id.example.com", "//id.example.com", "ftp://id.example.com"),
            *("https://", "https:///path", "https://:8443", "https://user@id.example.com", "https://u:p@h"),
            *("https://@h", "https://id.example.com:port", "https://id.example.com:99999", "https://h:"),
            *("https://[::1", "https://id example.com", "https://id.example.com\\x", "https://exämple.com"),
            *("https://id.example.com:443", "http://localhost:80", "https://h,https://i"),
        ],
    )
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        is_refused(env.base_url, "", development=False)
        is_refused(env.base_url, "", development=True)

    @pytest.mark.parametrize(
        "value", ["http://id.example.com", "http://10.0.0.1", "http://localhost.example.com"]
    )
    def test_production_asks_for_https(self, variable, value):
        variable(value)

        assert is_refused(env.base_url, "", development=False) == "must be https in production"
        assert env.base_url("SOME_VARIABLE", "", development=True) == value

    def test_production_has_no_default(self):
        assert "required" in is_refused(env.base_url, "", development=False)


class TestSecret:
    def test_production_needs_one(self, tmp_path):
        assert "required" in is_refused(env.secret, development=False, kept_in=tmp_path / "s")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "value",
        [
            *("short", "x" * 31, "x" * 64, "0" * 40, "ab" * 30),
            *("change-me-change-me-change-me-change-me", "django-insecure-2#k3j4h5g6f7d8s9a0q1w2e3r4t5"),
            "my-secret-key-my-secret-key-my-secret-key",
            "CHANGEME" + "abcdefghijklmnopqrstuvwxyz0123456789",
        ],
    )
    @pytest.mark.parametrize("development", [True, False])
    def test_case_F25_a_short_or_default_one_is_refused_and_not_repeated(
        self, variable, tmp_path, value, development
    ):
        variable(value)

        rule = is_refused(env.secret, development=development, kept_in=tmp_path / "s")

        assert value not in rule

    def test_a_random_one_is_taken(self, variable, tmp_path):
        variable(value := secrets.token_urlsafe(48))

        assert env.secret("SOME_VARIABLE", development=False, kept_in=tmp_path / "s") == value

    def test_case_K17_development_makes_one_up_and_keeps_it_to_itself(self, tmp_path):
        path = tmp_path / "folder" / "secret"

        first = env.secret("SOME_VARIABLE", development=True, kept_in=path)
        second = env.secret("SOME_VARIABLE", development=True, kept_in=path)

        assert first == second
        assert len(first) >= 32
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_two_installations_have_two(self, tmp_path):
        made = {env.secret("SOME_VARIABLE", development=True, kept_in=tmp_path / str(n)) for n in range(5)}

        assert len(made) == 5

    @pytest.mark.parametrize("content", [b"", b"\n", b"short", b"\xff" * 64])
    def test_a_file_that_was_damaged_is_refused(self, tmp_path, content):
        path = tmp_path / "secret"
        path.write_bytes(content)

        rule = is_refused(env.secret, development=True, kept_in=path)

        assert str(path) in rule

    def test_a_place_that_cannot_be_is_refused(self, tmp_path):
        (tmp_path / "file").write_text("")

        rule = is_refused(env.secret, development=True, kept_in=tmp_path / "file" / "secret")

        assert "secret" in rule


class TestEncryptionKeys:
    def ring(self, tmp_path, *, development=False):
        return encryption_keys.ring("SOME_VARIABLE", development=development, kept_in=tmp_path / "key")

    def test_the_first_encrypts(self, variable, tmp_path):
        variable(f"{OTHER_KEY}, {KEY}")

        assert list(self.ring(tmp_path).values()) == [bytes(range(100, 132)), bytes(range(32))]

    def test_padding_and_the_other_alphabet_do_not_matter(self, variable, tmp_path):
        key = b"\xff\xfe\xfb" * 6 + bytes(range(14))
        spellings = (
            base64.urlsafe_b64encode(key),
            base64.b64encode(key),
            base64.urlsafe_b64encode(key).rstrip(b"="),
        )

        read = []
        for spelling in spellings:
            variable(spelling.decode())
            read.append(self.ring(tmp_path))

        assert read[0] == read[1] == read[2]

    @pytest.mark.parametrize(
        "value",
        [
            *("", "x", ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,", KEY[:-4], KEY + KEY),
            *(f"{KEY} {KEY}", f"{KEY},short"),
            *(base64.urlsafe_b64encode(bytes(32)).decode(), base64.urlsafe_b64encode(b"a" * 32).decode()),
            *("not base64 at all, but long enough to be one", "é" * 43),
        ],
    )
    def test_case_F25_anything_but_32_random_bytes_is_refused(self, variable, tmp_path, value):
        variable(value)

        rule = is_refused(encryption_keys.ring, development=False, kept_in=tmp_path / "key")

        assert not value or value not in rule

    def test_development_makes_one_up(self, tmp_path):
        first, second = self.ring(tmp_path, development=True), self.ring(tmp_path, development=True)

        assert first == second
        assert [len(key) for key in first.values()] == [32]
        assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


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

    def test_case_K17_the_one_of_these_tests_is_too_with_all_beside_it(self, address):
        path = Path(str(configured.DATABASES["default"]["NAME"]))
        if path.suffix == ".sqlite3":
            for file in path.parent.glob(f"{path.name}*"):
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

        rule = is_refused(env.database, "")

        assert "pass" not in rule

    def test_a_password_is_not_repeated_in_a_refusal(self, variable):
        variable("mysql://user:canary@host/name")

        assert "canary" not in is_refused(env.database, "")


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


class TestCache:
    @pytest.mark.parametrize("value", ["redis://localhost", "rediss://user:pw@cache.example:6380/2"])
    def test_redis(self, variable, value):
        variable(value)

        assert env.redis_url("SOME_VARIABLE") == value

    @pytest.mark.parametrize(
        "value", ["memcached://h", "localhost:6379", "redis://h:port", "redis://[::1", "http://h"]
    )
    def test_anything_else_is_refused(self, variable, value):
        variable(value)

        is_refused(env.redis_url)


class TestRegion:
    @pytest.mark.parametrize(("value", "read"), [("DE", "DE"), ("gb", "GB"), (" cn ", "CN")])
    def test_a_region(self, variable, value, read):
        variable(value)

        assert env.region("SOME_VARIABLE") == read

    @pytest.mark.parametrize("value", ["UK", "ZZ", "XX", "D", "DEU", "49", "+49", "Germany"])
    def test_what_is_none_is_refused(self, variable, value):
        variable(value)

        is_refused(env.region)


def production(tmp_path, **changes):
    """The environment of a good production start, and changes to it; None takes a variable out."""
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONDONTWRITEBYTECODE": "1",
        "VAR_DIR": str(tmp_path),
        "BASE_URL": "https://id.example.com",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "ENCRYPTION_KEYS": KEY,
    }
    return {name: value for name, value in (environment | changes).items() if value is not None}


def start(environment, *arguments):
    return subprocess.run(
        [sys.executable, "manage.py", *(arguments or ("check",))],
        cwd=configured.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


class TestProductionStart:
    """`manage.py check` as a process of its own, with nothing of ours in its environment."""

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
            ("ENCRYPTION_KEYS", "A" * 43, "32 random characters"),
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

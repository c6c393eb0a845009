"""``manage.py doctor``: names each fault that was put in, says how to mend it, and tells no secret."""

import base64
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
import trustme
from django.conf import settings as configured
from django.core.cache.backends.redis import RedisCache
from django.core.checks import Info, Warning  # noqa: A004 - Django's name
from django.core.management import call_command
from django.db import NotSupportedError, OperationalError, connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from redis import Redis

from audit import log, triggers
from audit.context import request
from audit.events import Event
from database.redis import shared_redis
from identity.factors.models import Passkey
from identity.factors.triggers import FACTORS
from identity.users import argon2_avx2, hashing_process
from identity.users.argon2_functions import LIBSODIUM
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.experience.models import SignInExperience
from interaction.verification.models import OutgoingMessage
from management.administrators.models import Administrator
from management.doctor import examination
from oidc.applications.models import Application
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support import cast, operators, passkeys, redis_server, second, stage, tls
from tests.support.cast import World
from tests.support.codes import experience

VAR = configured.VAR
RING = dict(configured.ENCRYPTION_KEYS)
OTHER_RING = {"feedbeef": bytes(range(32))}
LEVELS = {"E": "error", "W": "warning", "I": "info"}
Findings = dict[str, dict[str, str]]


def examined(*arguments: str) -> Findings:
    """The findings by their ids."""
    out = StringIO()
    with suppress(SystemExit):
        call_command("doctor", "--json", *arguments, stdout=out)
    return {finding["id"]: finding for finding in json.loads(out.getvalue())["findings"]}


def message(findings: Findings, id: str) -> str:  # noqa: A002 - what it is
    return findings.get(id, {}).get("message", "")


@pytest.fixture
def undone() -> Iterator[None]:
    """Faults in the database are there for this test alone: the server of the run never sees them."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


# ── Faults, each by the finding that has to name it ─────────────────────────────────────────────────────────


def nothing_listens(settings: Any, acme: World) -> None:
    settings.BASE_URL = f"http://127.0.0.1:{second.free_port()}"


def another_issuer(settings: Any, acme: World) -> None:
    settings.BASE_URL = settings.BASE_URL.replace("127.0.0.1", "localhost")


def no_trusted_proxy(settings: Any, acme: World) -> None:
    settings.BASE_URL = settings.BASE_URL.replace("http:", "https:")


def no_forwarded_address(settings: Any, acme: World) -> None:
    settings.BASE_URL = settings.BASE_URL.replace("http:", "https:")
    settings.TRUSTED_PROXIES = {"192.0.2.7"}
    with request(ip="192.0.2.7", user_agent="", request_id=""):
        for _ in range(200):
            log.record(Event.USER_UPDATE)


def a_migration_missing(settings: Any, acme: World) -> None:
    MigrationRecorder(connection).migration_qs.filter(app="grants", name="0001_initial").delete()


def no_trigger(settings: Any, acme: World) -> None:
    name = min(triggers.APPEND_ONLY.names(connection.vendor))
    with connection.cursor() as cursor:
        cursor.execute(
            f"DROP TRIGGER {name}" + (" ON audit_entry" if connection.vendor == "postgresql" else "")
        )


def users_not_counted(settings: Any, acme: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER users_user_count_insert"
            + (" ON users_user" if connection.vendor == "postgresql" else "")
        )


def members_not_counted(settings: Any, acme: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER organizations_membership_count_delete"
            + (" ON organizations_membership" if connection.vendor == "postgresql" else "")
        )


def late_entries_not_counted(settings: Any, acme: World) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "DROP TRIGGER audit_entry_stretch_insert"
            + (" ON audit_entry" if connection.vendor == "postgresql" else "")
        )


def a_dead_cache(settings: Any, acme: World) -> None:
    address = f"redis://:canary-cache-password@127.0.0.1:{second.free_port()}/0"
    settings.CACHES = {
        "default": {"BACKEND": f"{RedisCache.__module__}.{RedisCache.__name__}", "LOCATION": address}
    }


def no_active_key(settings: Any, acme: World) -> None:
    with acme.active():
        SigningKey.objects.all().delete()


def factors_not_kept(settings: Any, acme: World) -> None:
    name = min(FACTORS.names(connection.vendor))
    table = name.rpartition("_")[0]
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}" + (f" ON {table}" if connection.vendor == "postgresql" else ""))


def a_lost_ring(settings: Any, acme: World) -> None:
    settings.ENCRYPTION_KEYS = OTHER_RING


def a_lost_key_of_messages(settings: Any, acme: World) -> None:
    with acme.active():
        OutgoingMessage.objects.create(sealed="deadbeef.AAAA", due_at=timezone.now())


def an_older_ring_key(settings: Any, acme: World) -> None:
    settings.ENCRYPTION_KEYS = OTHER_RING | RING


def a_closed_next_key(settings: Any, acme: World) -> None:
    with acme.active():
        SigningKey.objects.filter(pk=keys.prepare().pk).update(sealed_private_key="deadbeef.AAAA")


def a_closed_connector(settings: Any, acme: World) -> None:
    with acme.active():
        made = connectors.create(connector_id="outbox-email", type="Email", config={})
        Connector.objects.filter(pk=made.pk).update(sealed_config="deadbeef.AAAA")


def an_unknown_provider(settings: Any, acme: World) -> None:
    with acme.active():
        connectors.create(connector_id="pigeon", type="Email", config={}, enabled=True)


def nobody_to_send_codes(settings: Any, acme: World) -> None:
    experience(acme, sign_up={"identifiers": ["email"], "verify": True})


def nobody_to_send_passwords(settings: Any, acme: World) -> None:
    cast.new_world("Without-Connectors")


def buttons_that_create_no_users(settings: Any, acme: World) -> None:
    experience(acme, sign_up={"identifiers": [], "verify": False})
    config = {"client_id": "gatehouse", "client_secret": "canary-github"}
    with acme.active():
        connectors.create(connector_id="github", type="Social", config=config, enabled=True)


def no_list_of_breached_passwords(settings: Any, acme: World) -> None:
    settings.BREACHED_PASSWORDS = str(VAR / "no-such-list")


def a_stuck_message(settings: Any, acme: World) -> None:
    with acme.active():
        OutgoingMessage.objects.create(sealed="", due_at=timezone.now() - timedelta(minutes=20))


def a_redirect_over_http(settings: Any, acme: World) -> None:
    application = acme.application().application
    with acme.active():
        Application.objects.filter(pk=application.pk).update(redirect_uris=["http://rp.example/callback"])


def a_redirect_with_a_wildcard(settings: Any, acme: World) -> None:
    application = acme.application().application
    with acme.active():
        Application.objects.filter(pk=application.pk).update(redirect_uris=["https://*.rp.example/callback"])


def a_redirect_to_the_own_machine(settings: Any, acme: World) -> None:
    acme.application(redirect_uris=["http://localhost:3000/callback"])


def nobody_above(settings: Any, acme: World) -> None:
    Administrator.objects.update(is_superuser=False)


def the_first_password(settings: Any, acme: World) -> None:
    settings.ADMIN_PASSWORD_FILE = VAR / "first-password"
    settings.ADMIN_PASSWORD_FILE.touch(0o600)


def a_username_without_a_key(settings: Any, acme: World) -> None:
    operators.administrator()
    Administrator.objects.update(username_key=None)


def a_superuser_with_one_step(settings: Any, acme: World) -> None:
    operators.administrator(is_superuser=True)


def nobody_with_two_steps(settings: Any, acme: World) -> None:
    settings.ADMIN_TWO_STEP = "required"
    operators.administrator(is_superuser=True)
    Administrator.objects.update(second_step_since=None)


def a_secret_for_everybody(settings: Any, acme: World) -> None:
    path = VAR / "secret-key"
    path.write_text("canary-in-a-file")
    path.chmod(0o644)


def a_folder_for_everybody(settings: Any, acme: World) -> None:
    settings.VAR = VAR / "everybodys"
    settings.VAR.mkdir(exist_ok=True)
    settings.VAR.chmod(0o777)


def a_folder_that_others_list(settings: Any, acme: World) -> None:
    settings.VAR = VAR / "listed"
    settings.VAR.mkdir(exist_ok=True)
    settings.VAR.chmod(0o755)


def passkeys_of_another_address(settings: Any, acme: World) -> None:
    passkeys.enrol(acme, acme.user(), passkeys.device())
    with acme.active():
        Passkey.objects.update(rp_id="old.example")


def second_factors_that_nobody_can_use(settings: Any, acme: World) -> None:
    with acme.active():
        SignInExperience.objects.update(mfa={"factors": ["EmailVerificationCode"], "policy": "Mandatory"})


FAULTS: dict[Callable[[Any, World], None], str] = {
    nothing_listens: "address.E001",
    another_issuer: "address.E002",
    no_trusted_proxy: "proxies.W001",
    no_forwarded_address: "proxies.W002",
    a_migration_missing: "database.E005",
    no_trigger: "audit.E001",
    factors_not_kept: "factors.E001",
    users_not_counted: "users.W001",
    members_not_counted: "organizations.W001",
    late_entries_not_counted: "audit.W002",
    a_dead_cache: "cache.E001",
    no_active_key: "signing_keys.E001",
    a_lost_ring: "signing_keys.E002",
    a_closed_next_key: "signing_keys.W003",
    an_older_ring_key: "encryption_keys.W002",
    a_lost_key_of_messages: "encryption_keys.E001",
    a_closed_connector: "connectors.E001",
    an_unknown_provider: "connectors.W002",
    nobody_to_send_codes: "experience.E001",
    nobody_to_send_passwords: "experience.I002",
    buttons_that_create_no_users: "experience.I003",
    no_list_of_breached_passwords: "experience.E005",
    a_stuck_message: "messages.E001",
    a_redirect_over_http: "applications.E001",
    a_redirect_with_a_wildcard: "applications.E001",
    a_redirect_to_the_own_machine: "applications.W002",
    nobody_above: "administrators.E001",
    the_first_password: "administrators.W002",
    a_superuser_with_one_step: "administrators.W003",
    nobody_with_two_steps: "administrators.E004",
    a_username_without_a_key: "administrators.W005",
    passkeys_of_another_address: "passkeys.W004",
    second_factors_that_nobody_can_use: "experience.E006",
    a_secret_for_everybody: "files.E001",
    a_folder_for_everybody: "files.E002",
    a_folder_that_others_list: "files.W003",
}


@pytest.fixture
def no_leftovers() -> Iterator[None]:
    yield
    for name in ("secret-key", "first-password"):
        (VAR / name).unlink(missing_ok=True)


class TestFaults:
    @pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
    def test_each_is_named_with_a_way_to_mend_it(self, acme, settings, undone, no_leftovers, fault):
        before = examined()

        fault(settings, acme)

        found = examined()
        # What earlier tests left in the database may be a finding already; it says more now.
        assert message(found, FAULTS[fault]) not in {"", message(before, FAULTS[fault])}
        assert len(found[FAULTS[fault]]["fix"]) > 20
        assert found[FAULTS[fault]]["level"] == LEVELS[FAULTS[fault].partition(".")[2][0]]

    def test_superusers_with_two_steps_are_none(self, acme, settings, undone):
        Administrator.objects.update(second_step_since=timezone.now())
        optional = examined()
        # Of those who manage less it does not speak; what is required they set up before all else.
        operators.administrator(tenants=[acme.tenant.slug])
        settings.ADMIN_TWO_STEP = "required"
        operators.administrator(is_superuser=True)
        required = examined()

        assert {"administrators.W003", "administrators.E004"}.isdisjoint(optional.keys() | required.keys())

    def test_decision_M57_two_steps_are_recommended_when_every_superuser_has_them(self, settings, undone):
        operators.administrator(is_superuser=True)
        Administrator.objects.update(second_step_since=timezone.now())
        settings.DEVELOPMENT, settings.ADMIN_TWO_STEP = False, "optional"
        optional = examined()
        settings.ADMIN_TWO_STEP = "required"

        assert "ADMIN_TWO_STEP=required" in optional["administrators.I007"]["fix"]
        assert "administrators.I007" not in examined()

    def test_decision_M57_codes_that_no_connector_sends_are_reported(self, acme, settings, undone):
        with acme.active():
            SignInExperience.objects.update(mfa={"factors": ["Totp", "EmailVerificationCode"]})

        assert acme.tenant.slug in message(examined(), "experience.I007")

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite asks no connections and has no clock"
    )
    def test_more_threads_than_postgresql_lets_in(self, database, settings):
        settings.WEB_CONCURRENCY = 32
        assert "576 connections, but PostgreSQL allows" in message(examined(), "database.W003")

        settings.DATABASE_POOL = 2
        assert "database.W003" not in examined()

        settings.DATABASE_POOL = 16
        assert "512 connections, but PostgreSQL allows" in message(examined(), "database.W003")

    def test_what_is_enough_for_development(self, address, settings):
        in_production = examined()
        settings.DEVELOPMENT = True

        found = examined()

        assert "not encrypted on the network" in message(in_production, "address.W005")
        assert "ADMIN_MAIL_URL" in in_production["administrators.I006"]["fix"]
        assert {"address.W005", "administrators.I006"}.isdisjoint(found)

    def test_packages_of_other_versions_than_the_lock_file_has(self, address, monkeypatch):
        monkeypatch.setattr("management.doctor.versions._installed", lambda _: "0.0.1")

        assert "0.0.1 instead of" in message(examined(), "versions.W002")

    def test_a_redis_that_drops_counts_when_it_is_full(self, address, settings):
        with redis_server.running() as server, Redis.from_url(server.url) as redis:
            settings.CACHE_URL = server.url
            shared_redis.cache_clear()
            redis.config_set("maxmemory", "64mb")
            before = examined()
            redis.config_set("maxmemory-policy", "allkeys-lru")

            found = examined()

        shared_redis.cache_clear()
        assert "cache.W002" not in before
        assert "evicts keys" in message(found, "cache.W002")

    def test_clocks_that_are_apart(self, address):
        with time_machine.travel(timezone.now() + timedelta(minutes=7)):
            found = examined()

        assert "seconds apart" in message(found, "address.W006")
        assert ("database.W006" in found) == (connection.vendor == "postgresql")

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL is for production")
    def test_sqlite_in_production(self, address):
        assert "SQLite" in message(examined(), "database.W004")

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite's data is a file of ours")
    def test_case_K17_a_database_that_others_may_read(self, address):
        path = Path(str(configured.DATABASES["default"]["NAME"]))
        path.chmod(0o640)
        try:
            assert str(path) in message(examined(), "files.E001")
        finally:
            path.chmod(0o600)

    def test_a_database_that_is_away_is_one_finding_and_not_one_of_each_question(self, database, monkeypatch):
        def away() -> None:
            raise OperationalError('connection to "db" failed: no password supplied for canary-password')

        monkeypatch.setitem(connection.settings_dict, "PASSWORD", "canary-password")
        monkeypatch.setattr(connection, "ensure_connection", away)
        monkeypatch.setattr(connection, "cursor", lambda *_: away())

        found = examined()

        assert "cannot be reached" in message(found, "database.E001")
        assert "canary" not in json.dumps(found)
        assert "doctor.E001" not in found

    def test_a_database_that_is_too_old(self, database, monkeypatch):
        def refuse() -> None:
            raise NotSupportedError("PostgreSQL 14 or later is required")

        monkeypatch.setattr(connection, "ensure_connection", refuse)

        assert "is too old: PostgreSQL 14" in message(examined(), "database.E002")

    def test_a_question_that_breaks_is_a_finding_and_keeps_no_other_from_being_asked(
        self, address, monkeypatch
    ):
        def broken() -> None:
            raise ZeroDivisionError("canary")

        monkeypatch.setattr("management.doctor.files._private", broken)

        found = examined()

        assert "files: the check failed (ZeroDivisionError)" in message(found, "doctor.E001")
        assert "canary" not in json.dumps(found)
        assert "versions.I001" in found


class TestMachine:
    @pytest.mark.parametrize(
        ("mode", "is_told"),
        [
            ("always [madvise] never", True),
            ("always madvise [never]", True),
            ("[always] madvise never", False),
        ],
    )
    def test_huge_pages_that_passwords_do_not_get_are_told(
        self, address, tmp_path, monkeypatch, mode, is_told
    ):
        enabled = tmp_path / "enabled"
        enabled.write_text(mode)
        monkeypatch.setattr("management.doctor.machine._HUGE_PAGES", enabled)
        # The build for AVX2 requests them.
        monkeypatch.setattr(argon2_avx2, "find", lambda: None)
        monkeypatch.setattr(hashing_process, "find_engine", lambda: LIBSODIUM)

        found = examined()

        assert ("machine.I001" in found) is is_told

    def test_a_machine_without_the_setting_is_told_nothing(self, address, tmp_path, monkeypatch):
        monkeypatch.setattr("management.doctor.machine._HUGE_PAGES", tmp_path / "enabled")

        assert "machine.I001" not in examined()


class TestTls:
    @pytest.fixture
    def front(self, address, settings) -> Iterator[trustme.CA]:
        """TLS in front of the server of the run, with a certificate for three more days."""
        authority = trustme.CA()
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost", not_after=timezone.now() + timedelta(days=3)).configure_cert(shown)
        at = tls.listening()
        with tls.terminated(at, shown, int(os.environ["TEST_PORT"])):
            settings.BASE_URL = f"https://localhost:{at.getsockname()[1]}"
            yield authority

    def test_a_certificate_that_nobody_vouches_for(self, front):
        found = examined()

        assert "certificate" in message(found, "address.E003")
        assert "address.E001" not in found

    def test_a_certificate_that_soon_expires_and_cookies_that_are_not_secure(
        self, front, tmp_path, monkeypatch
    ):
        trusted = tmp_path / "authority.pem"
        front.cert_pem.write_to_path(trusted)
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

        found = examined()

        assert "expires in 2 days" in message(found, "address.W004")
        # The server behind it believes to be served in clear: another issuer, and plain cookies.
        assert "whose issuer is http://" in message(found, "address.E002")
        assert "__Host-" in message(found, "address.E007")


class TestAnswer:
    def test_no_secret_is_told(self, acme, settings, undone, no_leftovers):
        with acme.active():
            config = {"host": "mail.example", "port": 587, "from_email": "a@b.org", "password": "canary-smtp"}
            connectors.create(connector_id="smtp", type="Email", config=config, enabled=True)
        client = acme.application()
        for fault in FAULTS:
            fault(settings, acme)
        out = StringIO()
        with pytest.raises(SystemExit):
            call_command("doctor", stdout=out)

        told = out.getvalue() + json.dumps(examined())

        ring = RING | OTHER_RING
        secrets = [
            *(configured.SECRET_KEY, configured.ADMIN_PASSWORD, client.secret, "canary"),
            *(key.hex() for key in ring.values()),
            *(base64.urlsafe_b64encode(key).decode().rstrip("=") for key in ring.values()),
        ]
        assert [secret for secret in secrets if secret in told] == []
        assert told.count("Fix: ") >= 10

    @pytest.mark.parametrize(("level", "code"), [("warning", 1), ("error", 0)])
    def test_warnings_are_wrong_unless_somebody_says_otherwise(self, database, monkeypatch, level, code):
        found = [Warning("w", hint="h", id="x.W001"), Info("i", id="x.I002")]
        monkeypatch.setattr(examination, "findings", lambda: found)
        ended = 0

        try:
            call_command("doctor", "--fail-level", level, stdout=StringIO())
        except SystemExit as exit_:
            ended = int(exit_.code or 0)

        assert ended == code

    def test_it_asks_no_more_of_many_tenants_than_of_few(self, acme):
        with CaptureQueriesContext(connection) as asked_of_few:
            examined()
        for number in range(3):
            cast.new_world(f"Another-{number}")

        with CaptureQueriesContext(connection) as asked_of_more:
            examined()

        assert len(asked_of_more) == len(asked_of_few)

    def test_what_is_fine_may_be_said_too(self, address):
        found = examined()

        assert found["versions.I001"]["level"] == "info"
        assert found["versions.I001"]["fix"] == ""

    def test_a_database_that_was_never_migrated_is_one_finding(self, tmp_path):
        answer = doctor({"DATABASE_URL": f"sqlite:///{tmp_path}/empty.sqlite3"})

        found = [finding["id"] for finding in json.loads(answer.stdout)["findings"]]
        assert answer.returncode == 1
        assert "database.E005" in found
        assert "doctor.E001" not in found

    def test_exit_codes_on_a_server_of_its_own(self):
        with stage.alone() as (_, environment):
            healthy = doctor(environment | {"DEBUG": "true"})
            other_ring = base64.urlsafe_b64encode(os.urandom(32)).decode()
            broken = doctor(environment | {"ENCRYPTION_KEYS": other_ring})

        assert healthy.returncode == 0, healthy.stdout
        assert json.loads(healthy.stdout)["healthy"]
        assert broken.returncode == 1
        assert "signing_keys.E002" in broken.stdout


def doctor(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json", *arguments],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"} | environment,
        cwd=configured.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )

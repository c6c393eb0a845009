"""The answer of ``manage.py doctor``: no secret, exit codes, and what it costs."""

import base64
import json
import os
from io import StringIO

import pytest
from django.conf import settings as configured
from django.core.checks import Info, Warning  # noqa: A004 - Django's name
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from interaction.connectors import services as connectors
from management.doctor import examination
from tests.support import cast, stage
from tests.support.doctor import doctor, examined
from tests.support.doctor_faults import FAULTS, OTHER_RING, RING


class TestAnswer:
    def test_no_secret_is_told(self, acme, settings, undone, no_leftovers):
        with acme.active():
            config = {"host": "mail.example", "port": 587, "from_email": "a@b.org", "password": "canary-smtp"}
            connectors.create(connector_id="smtp", type="Email", config=config, enabled=True, is_proven=True)
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

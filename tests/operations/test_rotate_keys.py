"""``manage.py rotate_keys``: signing keys of tenants, and values under older keys of ENCRYPTION_KEYS."""

import base64
import json
import os
from collections.abc import Iterator
from io import StringIO
from typing import Any

import httpx
import pytest
from django.conf import settings as configured
from django.core.management import CommandError, call_command
from django.db import transaction

from audit.models import Entry
from identity.core import tenancy
from identity.encryption import columns, keyring
from interaction.connectors import services as connectors
from interaction.connectors.messages import new_test_sms
from interaction.connectors.models import Connector
from interaction.social.models import SocialAttempt
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from oidc.applications import client_secrets
from oidc.applications import services as applications
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import second, stage
from tests.support.independent import kids
from tests.support.threads import THOROUGH

NEWER = {"feedbeef": bytes(range(32))}
PASSWORD = "canary-password"
SMTP = {"host": "mail.example", "port": 587, "from_email": "a@example.com", "password": PASSWORD}


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("rotate_keys", *arguments, stdout=out)
    return out.getvalue()


def told(*arguments: str) -> Any:
    return json.loads(said("--json", *arguments))


class TestSigningKeys:
    def test_a_key_is_prepared_then_rotated_to(self, acme):
        [before] = kids(acme)

        [prepared] = told("--tenant", acme.tenant.slug, "--prepare")["tenants"]
        [rotated] = told("--tenant", acme.tenant.slug)["tenants"]

        assert (prepared["active"], rotated["active"]) == (before, before)
        assert prepared["kid"] == rotated["kid"] != before
        assert (prepared["was_published"], rotated["was_published"]) == (False, True)
        assert kids(acme) == [rotated["kid"], before]

    def test_a_key_that_nobody_could_see_before_is_named_as_such(self, acme):
        assert "it was not published before" in said("--tenant", acme.tenant.slug)

    def test_other_tenants_keep_theirs(self, acme, rival):
        theirs = kids(rival)

        said("--tenant", acme.tenant.slug)

        assert kids(rival) == theirs

    def test_all_are_rotated(self, acme, rival):
        before = kids(acme) + kids(rival)

        # Nothing of the run's other tenants is changed for good.
        with transaction.atomic():
            steps = told("--all")["tenants"]
            transaction.set_rollback(True)

        done = {step["tenant"]: step for step in steps}
        assert [done[world.tenant.slug]["active"] for world in (acme, rival)] == before
        assert "default" in done
        assert not [step for step in steps if "error" in step]

    def test_a_dry_run_does_nothing(self, acme):
        before = kids(acme)

        [step] = told("--tenant", acme.tenant.slug, "--dry-run")["tenants"]

        assert (step["active"], step["kid"]) == (before[0], None)
        assert kids(acme) == before

    def test_one_that_is_refused_keeps_no_other_from_it(self, acme, rival):
        with acme.active():
            SigningKey.objects.filter(pk=keys.prepare().pk).update(sealed_private_key="deadbeef.AAAA")
            algorithm = SigningKey.objects.active().get().algorithm
        before = kids(acme)
        out = StringIO()

        with pytest.raises(CommandError, match="1 failed"):
            call_command(
                "rotate_keys", *("--tenant", acme.tenant.slug, "--tenant", rival.tenant.slug), stdout=out
            )

        assert f"{acme.tenant.slug}: {algorithm}: " in out.getvalue()
        assert "ENCRYPTION_KEYS" in out.getvalue()
        assert kids(acme) == before
        assert len(kids(rival)) == 2

    @pytest.mark.parametrize("arguments", [(), ("--prepare",), ("--prepare", "--reseal")])
    def test_it_wants_to_be_told_whose(self, database, arguments):
        with pytest.raises(CommandError, match="--tenant SLUG or --all"):
            said(*arguments)

    def test_an_unknown_tenant_stops_it_before_it_begins(self, acme):
        before = kids(acme)

        with pytest.raises(CommandError, match="no tenant nowhere"):
            said("--tenant", acme.tenant.slug, "--tenant", "nowhere")

        assert kids(acme) == before


@pytest.fixture
def undone(acme) -> Iterator[None]:
    """What is sealed with a key that the server of the run does not have is never committed.

    Other tenants' rows are out of the way meanwhile: tests leave some that open with no key.
    """
    with transaction.atomic():
        with tenancy.using(tenancy.EVERYWHERE):
            for kind in columns.get_columns():
                rows = kind.rows()
                of_a_tenant = any(field.name == "tenant" for field in rows.model._meta.fields)
                (rows.exclude(tenant=acme.tenant) if of_a_tenant else rows).delete()
        yield
        transaction.set_rollback(True)


@pytest.fixture
def stored(acme, undone) -> dict[str, Any]:
    """One of each kind, under the ring of the run."""
    with acme.active():
        connector = connectors.create(connector_id="smtp", type="Email", config=SMTP, is_proven=True)
        message = new_test_sms("+49151000")
        outgoing.enqueue(message)
        attempt = SocialAttempt(
            state_hash="x", browser="x", connector=connector, expires_at="2030-01-01T00:00Z"
        )
        attempt.sealed_secrets = keyring.encrypt(
            b'["n","v"]', purpose="social attempts", bound_to=f"{acme.tenant.pk}/{attempt.pk}"
        )
        attempt.save(force_insert=True)
        key = SigningKey.objects.get()
    return {"key": key, "connector": connector, "message": message, "attempt": attempt}


def left() -> dict[str, int]:
    return {kind.name: columns.count_outdated(kind) for kind in columns.get_columns()}


def done(report: Any) -> dict[str, int]:
    return {kind["kind"]: kind["done"] for kind in report["resealed"]}


RESEALED = {"signing_keys", "connectors", "outgoing_messages", "social_attempts"}


class TestReseal:
    def test_case_K08_an_older_key_can_be_dropped_afterwards(self, acme, stored, settings):
        settings.ENCRYPTION_KEYS = NEWER | configured.ENCRYPTION_KEYS
        before = left()

        report = told("--reseal")

        assert all(before[kind] >= 1 for kind in RESEALED)
        assert {kind: done(report)[kind] for kind in RESEALED} == {kind: before[kind] for kind in RESEALED}
        assert {kind: left()[kind] for kind in RESEALED} == dict.fromkeys(RESEALED, 0)
        settings.ENCRYPTION_KEYS = NEWER
        with acme.active():
            assert signing.can_decrypt(SigningKey.objects.get())
            assert Connector.objects.get().config()["password"] == PASSWORD
            assert outgoing._decrypt(OutgoingMessage.objects.get()) == stored["message"]

    def test_case_K08_done_again_it_does_nothing(self, acme, stored, settings):
        settings.ENCRYPTION_KEYS = NEWER | configured.ENCRYPTION_KEYS
        told("--reseal")
        with acme.active():
            once = [SigningKey.objects.get().sealed_private_key, Connector.objects.get().sealed_config]

        report = told("--reseal")

        assert sum(done(report).values()) == 0
        with acme.active():
            twice = [SigningKey.objects.get().sealed_private_key, Connector.objects.get().sealed_config]
        assert twice == once

    def test_it_is_no_edit_and_is_in_the_audit_log(self, acme, stored, settings):
        settings.ENCRYPTION_KEYS = NEWER | configured.ENCRYPTION_KEYS

        report = told("--reseal")

        with acme.active():
            connector = Connector.objects.get()
        assert (connector.version, connector.updated_at) == (1, stored["connector"].updated_at)
        entries = Entry.objects.filter(key="Secret.Reseal", payload__key_id="feedbeef")
        counted: dict[str, int] = {}
        for entry in entries:
            counted[entry.payload["kind"]] = counted.get(entry.payload["kind"], 0) + entry.payload["count"]
        assert counted == {kind: number for kind, number in done(report).items() if number}

    def test_case_K09_what_does_not_open_is_left_as_it_is_and_named(self, acme, stored, settings):
        settings.ENCRYPTION_KEYS = NEWER
        before = stored["key"].sealed_private_key
        out = StringIO()

        with pytest.raises(CommandError, match=r"\d failed: see above"):
            call_command("rotate_keys", "--reseal", stdout=out)

        assert "a key that is missing from ENCRYPTION_KEYS" in out.getvalue()
        with acme.active():
            assert SigningKey.objects.get().sealed_private_key == before

    def test_what_moves_by_itself_is_counted_and_explained(self, acme, stored, settings):
        with acme.active():
            application, secret = applications.register(name="A", type="MachineToMachine")
        settings.ENCRYPTION_KEYS = NEWER | configured.ENCRYPTION_KEYS

        text = said("--reseal")
        before = left()["client_secrets"]
        with acme.active():
            assert client_secrets.is_valid(application, secret)

        assert "they are re-encrypted when the application next presents its secret" in text
        assert left()["client_secrets"] == before - 1

    def test_a_dry_run_counts_and_changes_nothing(self, acme, stored, settings):
        settings.ENCRYPTION_KEYS = NEWER | configured.ENCRYPTION_KEYS
        before = left()

        report = told("--reseal", "--dry-run")

        assert {kind["kind"]: kind["left"] for kind in report["resealed"]} == before == left()

    def test_no_secret_is_told(self, acme, stored, settings):
        settings.ENCRYPTION_KEYS = NEWER | configured.ENCRYPTION_KEYS

        text = said("--reseal") + said("--reseal", "--json")

        assert PASSWORD not in text
        assert NEWER["feedbeef"].hex() not in text

    def test_no_tenant_is_active_afterwards(self, acme, stored):
        said("--reseal")

        with pytest.raises(tenancy.NoActiveTenant):
            SigningKey.objects.count()


@pytest.mark.skipif(not THOROUGH, reason="starts two servers: for the thorough run")
def test_case_K08_a_server_without_the_older_key_serves_what_was_sealed_with_it():
    new = base64.urlsafe_b64encode(os.urandom(32)).decode()
    with stage.alone() as (_, environment):
        both = environment | {"ENCRYPTION_KEYS": f"{new},{os.environ['ENCRYPTION_KEYS']}"}
        report = json.loads(stage.manage(both, "rotate_keys", "--reseal", "--json"))
        alone = {"DATABASE_URL": environment["DATABASE_URL"], "ENCRYPTION_KEYS": new}
        with second.running(**alone) as address:
            answer = httpx.get(f"{address}/readyz")

    assert done(report)["signing_keys"] == 1
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})

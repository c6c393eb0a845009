"""The rows of factors: what the database itself keeps, whatever code writes."""

import hashlib
import secrets
from contextlib import suppress

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from identity.core import tenancy
from identity.factors import triggers
from identity.factors.models import Authenticator, BackupCode, KnownBrowser, Passkey, RecoveryGrant
from identity.sessions.models import Session
from identity.users.factor_bits import AUTHENTICATOR, BACKUP_CODE, FIRST_PASSKEY, PASSKEY
from identity.users.models import User
from tests.support.threads import at_once


def passkey(user, **fields) -> Passkey:
    credential = secrets.token_urlsafe(16)
    return Passkey(
        **{
            "user": user,
            "credential_id": credential,
            "credential_hash": hashlib.sha256(credential.encode()).hexdigest(),
            "public_key": b"key",
            "algorithm": -7,
            "rp_id": "id.example",
            "verifies_user": True,
            "is_discoverable": True,
        }
        | fields
    )


def factors(user) -> int:
    return User.objects.values_list("factors", flat=True).get(pk=user.pk)


def refused(row) -> bool:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return True
    return False


class TestTheSetOfFactors:
    def test_decision_M7_it_follows_the_rows(self, acme):
        user = acme.user()
        with acme.active():
            assert factors(user) == 0

            key = passkey(user, is_discoverable=False)
            key.save()
            assert factors(user) == PASSKEY
            Passkey.objects.filter(pk=key.pk).update(is_discoverable=True)
            assert factors(user) == PASSKEY | FIRST_PASSKEY
            Passkey.objects.filter(pk=key.pk).update(is_discoverable=None)
            assert factors(user) == PASSKEY
            app = Authenticator.objects.create(user=user, sealed_secret="x")
            codes = [BackupCode.objects.create(user=user, digest=secrets.token_hex(8)) for _ in range(2)]
            assert factors(user) == PASSKEY | AUTHENTICATOR | BACKUP_CODE

            BackupCode.objects.filter(pk=codes[0].pk).update(used_at=timezone.now())
            assert factors(user) == PASSKEY | AUTHENTICATOR | BACKUP_CODE
            BackupCode.objects.filter(user=user).update(used_at=timezone.now())
            assert factors(user) == PASSKEY | AUTHENTICATOR
            app.delete()
            assert factors(user) == PASSKEY
            Passkey.objects.all().delete()
            assert factors(user) == 0

    def test_decision_M7_it_is_of_one_user(self, acme, rival):
        user, other, stranger = acme.user(), acme.user(), rival.user()
        with acme.active():
            Authenticator.objects.create(user=user, sealed_secret="x")
            row = Authenticator.objects.create(user=other, sealed_secret="x")
            Authenticator.objects.filter(pk=row.pk).update(user=user)
            assert (factors(user), factors(other)) == (AUTHENTICATOR, 0)
        with rival.active():
            assert factors(stranger) == 0

    def test_decision_M7_what_was_rolled_back_counts_for_nothing(self, acme):
        user = acme.user()
        with acme.active():
            with suppress(RuntimeError), transaction.atomic():
                Authenticator.objects.create(user=user, sealed_secret="x")
                raise RuntimeError
            assert factors(user) == 0

    def test_decision_M7_missing_triggers_are_reported_and_made_again(self, acme):
        user = acme.user()
        name = min(triggers.FACTORS.names(connection.vendor))
        table = next(table for table in triggers.FACTORS.trigger_tables if name.startswith(table))
        on_table = f" ON {table}" if connection.vendor == "postgresql" else ""
        assert triggers.FACTORS.errors(["default"]) == []
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"DROP TRIGGER {name}{on_table}")
            (error,) = triggers.FACTORS.errors(["default"])
            assert name in error.msg
            with acme.active():
                User.objects.filter(pk=user.pk).update(factors=7)
        finally:
            triggers.FACTORS.after_migrate(using="default")

        assert triggers.FACTORS.errors(["default"]) == []
        with acme.active():
            assert factors(user) == 0

    @pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
    )
    def test_decision_M7_concurrent_changes_leave_the_true_set(self, acme):
        user = acme.user()
        with acme.active():
            rows = [Authenticator.objects.create(user=user, sealed_secret="x") for _ in range(8)]

        def remove(number: int) -> None:
            with acme.active():
                rows[number].delete()

        at_once(8, remove)

        with acme.active():
            assert factors(user) == 0


class TestConstraints:
    def test_decision_M7_a_credential_is_one_passkey_in_a_tenant(self, acme, rival):
        user, other, stranger = acme.user(), acme.user(), rival.user()
        with acme.active():
            first = passkey(user)
            first.save()
            same = {"credential_hash": first.credential_hash}
            assert refused(passkey(other, **same))
        with rival.active():
            assert not refused(passkey(stranger, **same))

    @pytest.mark.parametrize(
        ("fields", "is_refused"),
        [
            ({"backed_up": True, "backup_eligible": False}, True),
            ({"backed_up": True, "backup_eligible": True}, False),
            ({"algorithm": -65535}, True),
            ({"algorithm": -47}, True),
            ({"algorithm": -8}, False),
            ({"algorithm": -257}, False),
        ],
    )
    def test_decision_M7_a_passkey_that_cannot_be_is_refused(self, acme, fields, is_refused):
        user = acme.user()
        with acme.active():
            assert refused(passkey(user, **fields)) == is_refused

    def test_decision_M7_an_authenticator_has_a_secret(self, acme):
        user = acme.user()
        with acme.active():
            assert refused(Authenticator(user=user, sealed_secret=""))

    def test_decision_M7_a_browser_is_remembered_with_a_level_or_not_at_all(self, acme):
        user, now = acme.user(), timezone.now()

        def browser(**fields) -> KnownBrowser:
            seen = {"first_seen_at": now, "last_seen_at": now, "token_hash": secrets.token_hex(8)}
            return KnownBrowser(user=user, **seen, **fields)

        with acme.active():
            assert refused(browser(remembered_until=now))
            assert refused(browser(remembered_level=2))
            assert not refused(browser())
            assert not refused(browser(remembered_until=now, remembered_level=2))

    def test_decision_M7_a_user_has_one_live_recovery_code(self, acme):
        user, now = acme.user(), timezone.now()

        def grant(**fields) -> RecoveryGrant:
            return RecoveryGrant(
                user=user, digest=secrets.token_hex(8), made_by="x", expires_at=now, **fields
            )

        with acme.active():
            assert not refused(grant())
            assert refused(grant())
            assert not refused(grant(used_at=now))

    @pytest.mark.parametrize(
        ("fields", "is_refused"),
        [
            ({}, False),
            ({"level": 0}, True),
            ({"level": 5}, True),
            ({"level": 2, "second_factor_at": timezone.now()}, False),
            ({"level": 1, "second_factor_at": timezone.now()}, True),
            ({"level": 1, "remembered": True}, False),
            ({"level": 2, "remembered": True}, True),
        ],
    )
    def test_decision_M7_a_session_has_the_level_that_it_proves(self, acme, fields, is_refused):
        user, now = acme.user(), timezone.now()
        times = {"auth_time": now, "last_used_at": now, "expires_at": now}
        with acme.active():
            session = Session(user=user, token_hash=secrets.token_hex(8), epoch=0, **times, **fields)
            assert refused(session) == is_refused

    def test_decision_M7_all_rows_go_with_their_user(self, acme):
        user, now = acme.user(), timezone.now()
        with acme.active():
            passkey(user).save()
            Authenticator.objects.create(user=user, sealed_secret="x")
            BackupCode.objects.create(user=user, digest="x")
            KnownBrowser.objects.create(user=user, token_hash="x", first_seen_at=now, last_seen_at=now)
            RecoveryGrant.objects.create(user=user, digest="x", made_by="x", expires_at=now)

            user.delete()

            for model in (Passkey, Authenticator, BackupCode, KnownBrowser, RecoveryGrant):
                assert not model.objects.exists()

    def test_decision_M7_a_query_without_a_tenant_is_refused(self):
        with pytest.raises(tenancy.NoActiveTenant):
            Passkey.objects.count()

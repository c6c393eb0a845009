"""An entry is there if and only if what it tells of happened."""

import pytest
from django.db import transaction
from django.test import Client

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.limits.models import Counter
from identity.sessions.models import Session
from identity.users import credentials
from identity.users.models import User
from tests.support.audit_log import SIGN_IN, entries, last
from tests.support.cast import PASSWORD
from tests.support.threads import at_once


class Broken(ServiceError):
    reason = "broken_on_purpose"


class TestTransactions:
    """An entry is true when its transaction is; a failure's entry survives it."""

    def test_case_N02_a_rollback_takes_the_entry_along(self, acme):
        def work():
            with transaction.atomic():
                log.record(Event.USER_CREATE, id="never")
                raise Broken

        with acme.active(), pytest.raises(Broken):
            work()

        assert not entries(acme, "User.Create")

    def test_an_attempt_that_fails_is_written_after_the_rollback(self, acme):
        def attempt():
            with log.attempt(Event.SIGN_IN_PASSWORD, username="alice") as audited, transaction.atomic():
                log.record(Event.USER_UPDATE, id="never")
                audited.record_success()
                raise Broken

        with acme.active(), pytest.raises(Broken):
            attempt()

        assert not entries(acme, "User.Update")
        [entry] = entries(acme, "SignIn.Password")
        assert entry.payload == {"username": "alice", "result": "failed", "error": "broken_on_purpose"}

    def test_a_fault_of_ours_is_a_server_error(self, acme):
        def attempt():
            with log.attempt(Event.SIGN_IN_PASSWORD, username="alice"):
                raise ZeroDivisionError

        with acme.active(), pytest.raises(ZeroDivisionError):
            attempt()

        assert last(acme, "SignIn.Password").payload["error"] == "server_error"

    def test_an_attempt_ends_with_exactly_one_entry(self, acme):
        with acme.active(), log.attempt(Event.SIGN_IN_PASSWORD, username="alice") as audited:
            audited.record_success()
        with acme.active(), log.attempt(Event.SIGN_IN_PASSWORD, username="bob"):
            pass

        written = [entry.payload for entry in entries(acme, "SignIn.Password")]
        assert written == [
            {"username": "alice", "result": "success"},
            {"username": "bob", "result": "success"},
        ]

    @pytest.mark.parametrize("before", [0, 1])
    def test_a_sign_in_that_breaks_at_its_end_leaves_a_failure_and_no_session(
        self, acme, monkeypatch, before
    ):
        """Over the journey itself, in a new browser and in one in which the person is: what breaks late."""

        def broken(*_, **__):
            raise Broken

        user, browser = acme.user(), Client()
        sent = {"identifier": user.username, "password": PASSWORD}
        for _ in range(before):
            browser.post(f"/t/{acme.tenant.slug}{SIGN_IN}", sent, "application/json")
        monkeypatch.setattr("interaction.journeys.second_factor.starting.sessions.start", broken)
        answer = browser.post(f"/t/{acme.tenant.slug}{SIGN_IN}", sent, "application/json")

        assert answer.status_code == 400
        [*_, entry] = sorted(entries(acme, "SignIn.Password"), key=lambda each: each.created_at)
        assert (entry.payload["result"], entry.payload["error"]) == ("failed", "broken_on_purpose")
        with acme.active():
            assert Session.objects.count() == before
            assert User.objects.get(pk=user.pk).login_count == before

    def test_a_sign_in_that_a_suspension_overtakes_leaves_a_failure_and_is_no_wrong_guess(
        self, acme, monkeypatch
    ):
        user = acme.user()
        authenticate = credentials.authenticate

        def overtaken(**given):
            found = authenticate(**given)
            User.objects.filter(pk=user.pk).update(is_suspended=True)
            return found

        monkeypatch.setattr("interaction.journeys.sign_in.credentials.authenticate", overtaken)
        answer = Client().post(
            f"/t/{acme.tenant.slug}{SIGN_IN}",
            {"identifier": user.username, "password": PASSWORD},
            "application/json",
        )

        assert answer.status_code == 403
        [entry] = entries(acme, "SignIn.Password")
        assert entry.payload == {"username": user.username, "result": "failed", "error": "suspended"}
        with acme.active():
            assert not Session.objects.exists()
            assert not Counter.objects.filter(kind__in=["pair", "identifier"], count__gt=0).exists()

    def test_entries_at_the_same_moment_are_all_kept(self, acme):
        def work(index):
            with acme.active():
                log.record(Event.USER_UPDATE, id=str(index))

        at_once(8, work)

        assert {entry.payload["id"] for entry in entries(acme, "User.Update")} == {str(n) for n in range(8)}

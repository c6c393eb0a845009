"""Pending authorization requests: whose they are, how many a browser has, and what is recorded in them."""

from datetime import UTC, datetime, timedelta

import pytest

from audit import context
from database import ids
from identity.limits import rules
from identity.limits.models import Counter
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest
from tests.support import cast
from tests.support.grant_rows import new_session

BROWSER, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def store(application):
    """Store a request, and return its row."""

    def store(browser=BROWSER, *, is_new=False, is_test=False):
        pk, given = ids.new(), {"browser": browser, "application": application, "query": "a=1"}
        if is_test:
            requests.store_trial(request_id=pk, **given)
        else:
            requests.store(request_id=pk, is_new=is_new, **given)
        return AuthorizationRequest.objects.get(pk=pk)

    return store


def expire(row):
    AuthorizationRequest.objects.filter(pk=row.pk).update(expires_at=datetime.now(UTC) - timedelta(seconds=1))


class TestStore:
    def test_keeps_it_for_an_hour_and_a_trial_for_ten_minutes(self, acme, application, store):
        with acme.active():
            rows = store(is_new=True), store(is_test=True)

        left = [row.expires_at - datetime.now(UTC) for row in rows]
        assert [round(time.total_seconds() / 60) for time in left] == [60, 10]
        assert [row.is_test for row in rows] == [False, True]
        assert {(row.browser, row.application_id, row.query) for row in rows} == {
            (BROWSER, application.pk, "a=1")
        }

    @pytest.mark.parametrize("is_test", [False, True])
    def test_deletes_the_oldest_beyond_twenty_of_the_browser(self, acme, store, is_test):
        with acme.active():
            theirs = store(OTHER)
            first, second, *_ = [store() for _ in range(20)]
            assert AuthorizationRequest.objects.filter(browser=BROWSER).count() == 20

            store(is_test=is_test)

            assert AuthorizationRequest.objects.filter(browser=BROWSER).count() == 20
            left = set(AuthorizationRequest.objects.values_list("pk", flat=True))
            assert left >= {theirs.pk, second.pk}
            assert first.pk not in left

    def test_counts_browsers_with_and_without_a_cookie_apart(self, acme, store):
        with acme.active():
            store(is_new=True)
            store()
            store(is_test=True)

            counted = dict(Counter.objects.values_list("kind", "count"))
        assert counted == {rules.PARKED_WITHOUT_COOKIE.kind: 1, rules.PARKED.kind: 2}


class TestFind:
    def test_by_its_id_or_the_newest(self, acme, store):
        with acme.active():
            first, second = store(), store()

            assert requests.find(BROWSER) == second
            assert requests.find(BROWSER, first.pk) == first

    def test_is_of_this_browser_and_tenant_alone(self, acme, store):
        with acme.active():
            row = store()
            assert requests.find(OTHER) is None
            assert requests.find(OTHER, row.pk) is None
            assert requests.find("", row.pk) is None
            assert requests.find_application(OTHER, row.pk) is None
            assert requests.find_application("", row.pk) is None
        with cast.new_world("Rival").active():
            assert requests.find(BROWSER) is None
            assert requests.find(BROWSER, row.pk) is None
            assert requests.find_application(BROWSER, row.pk) is None

    def test_an_empty_browser_has_none_though_a_row_says_so(self, acme, store):
        with acme.active():
            row = store("")

            assert requests.find("") is None
            assert requests.find("", row.pk) is None
            assert requests.find_application("", row.pk) is None

    def test_only_before_it_expires_except_for_its_application(self, acme, application, store):
        with acme.active():
            older, row = store(), store()
            expire(row)

            assert requests.find(BROWSER) == older
            assert requests.find(BROWSER, row.pk) is None
            assert requests.find_application(BROWSER, row.pk) == application
            assert requests.find_application(BROWSER, ids.new()) is None

    @pytest.mark.parametrize("is_test", [False, True])
    def test_marks_what_follows_a_trial_as_one(self, acme, store, monkeypatch, is_test):
        marked = []
        monkeypatch.setattr(context, "set_trial", lambda: marked.append(True))
        with acme.active():
            store(is_test=is_test)

            requests.find(BROWSER)

        assert marked == [True] * is_test


class TestRecord:
    def test_a_sign_in_chooses_the_account_and_withdraws_a_consent(self, acme, store):
        user = acme.user()
        with acme.active():
            row, other, session = store(), store(), new_session(user)
            AuthorizationRequest.objects.update(consented_at=datetime.now(UTC))

            requests.record_sign_in(row, session)

            row.refresh_from_db()
            assert row.session == session
            assert None not in {row.signed_in_at, row.account_chosen_at}
            assert row.consented_at is None
            other.refresh_from_db()
            assert (other.session, other.signed_in_at, other.consented_at is None) == (None, None, False)

    @pytest.mark.parametrize(
        ("record", "column"),
        [(requests.record_account, "account_chosen_at"), (requests.record_consent, "consented_at")],
    )
    def test_a_choice_is_of_the_first_session_alone(self, acme, store, record, column):
        mine, theirs = acme.user(), acme.user()
        with acme.active():
            row, other = store(), store()
            session, stranger = new_session(mine), new_session(theirs)

            assert record(row, session) is True
            assert record(row, session) is True
            assert record(row, stranger) is False

            row.refresh_from_db()
            assert (row.session, getattr(row, column) is None) == (session, False)
            other.refresh_from_db()
            assert (other.session, getattr(other, column)) == (None, None)
            row.delete()
            assert record(row, session) is False

    @pytest.mark.parametrize(
        ("record", "column"),
        [
            (lambda row: requests.record_shown(row, {"identity": []}), "shown"),
            (requests.record_wish_declined, "wish_declined_at"),
            (requests.record_cancelled, "cancelled_at"),
            (lambda row: requests.record_language(row, "de"), "language"),
        ],
    )
    def test_everything_else_is_of_this_request_alone(self, acme, store, record, column):
        with acme.active():
            row, other = store(), store()

            record(row)

            row.refresh_from_db()
            other.refresh_from_db()
            assert (bool(getattr(row, column)) or getattr(row, column) == {"identity": []}) is True
            assert not getattr(other, column)

    def test_it_is_answered_once(self, acme, store):
        with acme.active():
            row, other = store(), store()

            assert [requests.finish(row), requests.finish(row)] == [True, False]
            assert list(AuthorizationRequest.objects.all()) == [other]

"""Authorization codes: whose they are, which are live, and that each is redeemed once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from audit import log
from audit.events import Event
from audit.metrics import ENTRIES
from database import batching, ids
from identity.factors import forgetting
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import codes, families, redemption
from oidc.grants.code_sign_ins import CodeSignIn
from oidc.grants.models import AuthorizationCode, AuthorizationRequest, RefreshFamily, RevokedToken
from oidc.grants.redemption import IssuedTokens
from tests.support import cast
from tests.support.audit_log import entries
from tests.support.grant_rows import SOON, new_code, new_family, new_session
from tests.support.threads import count_waiting, wait_until

only_postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time"
)
PAST = datetime.now(UTC) - timedelta(minutes=1)
EXPIRY = datetime.now(UTC) + SOON


@pytest.fixture
def session(acme, user):
    with acme.active():
        return new_session(user)


def bound(application, session, **changes):
    """What a code is bound to."""
    return {
        "application": application,
        "session": session,
        "redirect_uri": "https://rp.example/callback",
        "scope": "openid read",
        "claims": {"userinfo": ["email"]},
        "resource": "https://api.example",
        "organization_id": str(ids.new()),
        "nonce": "n",
        "code_challenge": "c",
        "consent_id": ids.new(),
        "acr": "urn:strong",
    } | changes


@pytest.fixture
def issue(acme, application, session):
    """Issue a code, and return its text."""

    def issue(**changes):
        with acme.active():
            return codes.issue(**bound(application, session, **changes))

    return issue


@pytest.fixture
def find(acme, application):
    def find(code, client_id=""):
        with acme.active():
            return codes.find(code, client_id=client_id or application.client_id)

    return find


@pytest.fixture
def redeem(acme, application, session):
    """Redeem a code, with a new family or without one. ``if_free``: without waiting for a lock."""

    def redeem(row, token_id="t", *, has_family=True, if_free=False):
        given: dict[str, Any] = {"scope": "openid", "claims": {}, "consent_id": None}
        with acme.active():
            family = families.new_family(
                family_id=ids.new(), application=application, sign_in=CodeSignIn.of_session(session), **given
            )
            issued = IssuedTokens(token_id, EXPIRY, family if has_family else None)
            entry = log.new_entry(Event.TOKEN_EXCHANGE)
            if if_free:
                return batching.run(redemption.redeem_if_free(row, issued, entry))
            return redemption.redeem(row, issued, entry)

    return redeem


def new_request(application):
    values = {"browser": "b" * 64, "query": "a=1", "expires_at": EXPIRY}
    return AuthorizationRequest.objects.create(application=application, **values)


class TestIssue:
    def test_binds_a_code_to_all_that_it_was_asked_for(self, acme, application, session):
        given = bound(application, session)

        with acme.active():
            codes.issue(**given)
            row = AuthorizationCode.objects.get()

        assert {name: getattr(row, name) for name in given} == given
        assert (row.user_id, row.consumed_at) == (session.user_id, None)

    def test_codes_differ_and_are_not_stored(self, acme, issue):
        first, second = issue(), issue()

        assert first != second
        with acme.active():
            stored = set(AuthorizationCode.objects.values_list("code_hash", flat=True))
        assert len(stored) == 2
        assert not stored & {first, second}

    def test_answers_a_pending_request_once(self, acme, issue, application):
        with acme.active():
            request, other = new_request(application), new_request(application)

        assert issue(pending_request=request)
        assert issue(pending_request=request) is None

        with acme.active():
            assert AuthorizationCode.objects.count() == 1
            assert AuthorizationRequest.objects.get() == other


class TestFind:
    def test_a_code_of_the_client_is_live(self, issue, find):
        assert find(issue()).is_live

    def test_another_text_finds_no_code(self, issue, find):
        issue()

        assert find("another") is None

    def test_case_B02_a_code_of_another_client_is_not_found(self, acme, issue, find):
        other = acme.application().application

        assert find(issue(), other.client_id) is None

    def test_case_G01_a_code_of_another_tenant_is_not_found(self, application, issue):
        code = issue()

        with cast.new_world("Rival").active():
            assert codes.find(code, client_id=application.client_id) is None

    @pytest.mark.parametrize(
        ("model", "change"),
        [
            (AuthorizationCode, {"expires_at": PAST}),
            (Session, {"ended_at": PAST}),
            (Session, {"epoch": F("epoch") + 1}),
            (User, {"is_suspended": True}),
            (User, {"epoch": F("epoch") + 1}),
            (AuthorizationCode, {"epoch": F("epoch") + 1}),
        ],
    )
    def test_case_B13_a_code_that_expired_or_whose_session_or_user_did_is_not_live(
        self, acme, issue, find, model, change
    ):
        code = issue()
        with acme.active():
            model.objects.update(**change)

        assert not find(code).is_live


@pytest.mark.parametrize("if_free", [False, True])
class TestRedeem:
    def test_stores_the_family_and_is_audited_and_counted(self, acme, issue, find, redeem, if_free):
        before = ENTRIES.labels(Event.TOKEN_EXCHANGE.value, "success")._value.get()

        assert redeem(find(issue()).row, "token", if_free=if_free)

        with acme.active():
            code, family = AuthorizationCode.objects.get(), RefreshFamily.objects.get()
        assert (code.family_id, code.access_token_id) == (family.pk, "token")
        assert code.consumed_at is not None
        assert code.access_token_expires_at == EXPIRY
        assert len(entries(acme, Event.TOKEN_EXCHANGE)) == 1
        assert ENTRIES.labels(Event.TOKEN_EXCHANGE.value, "success")._value.get() == before + 1

    def test_case_B12_a_second_time_stores_nothing(self, acme, issue, find, redeem, if_free):
        for number, has_family in enumerate((True, False), start=1):
            row = find(issue()).row
            redeem(row, "first", has_family=has_family)

            assert not redeem(row, "second", has_family=has_family, if_free=if_free)

            with acme.active():
                assert AuthorizationCode.objects.latest("pk").access_token_id == "first"
                assert RefreshFamily.objects.count() == 1
            assert len(entries(acme, Event.TOKEN_EXCHANGE)) == number

    def test_redeems_no_other_code(self, acme, issue, find, redeem, if_free):
        issue()

        redeem(find(issue()).row, if_free=if_free)

        with acme.active():
            assert AuthorizationCode.objects.filter(consumed_at=None).count() == 1


@only_postgresql
class TestRedeemIfFree:
    @pytest.fixture
    def redeem_there(self, redeem):
        """Redeem on another connection, where it is an error to wait for longer than half a second."""

        def redeem_there(row, **options):
            try:
                with connection.cursor() as cursor:
                    cursor.execute("SET lock_timeout = 500")
                return redeem(row, if_free=True, **options)
            finally:
                connection.close()

        def in_a_thread(row, **options):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(redeem_there, row, **options).result()

        return in_a_thread

    @pytest.mark.parametrize("has_family", [True, False])
    def test_does_not_wait_for_a_change_of_the_code(self, acme, issue, find, redeem_there, has_family):
        row = find(issue()).row
        with acme.active(), transaction.atomic():
            AuthorizationCode.objects.filter(pk=row.pk).update(consumed_at=Now())

            assert not redeem_there(row, has_family=has_family)

    @pytest.mark.parametrize("model", [User, Application, Tenant])
    def test_does_not_wait_for_a_deletion(self, acme, issue, find, redeem_there, model):
        """The foreign keys of a family are checked when the transaction ends."""
        row = find(issue()).row
        owner = {User: row.user_id, Application: row.application_id, Tenant: row.tenant_id}[model]
        with acme.active(), transaction.atomic():
            model.objects.select_for_update().get(pk=owner)

            assert not redeem_there(row)
            assert redeem_there(row, has_family=False)

    def test_does_not_mind_other_changes(self, acme, issue, find, redeem_there):
        row = find(issue()).row
        with acme.active(), transaction.atomic():
            User.objects.filter(pk=row.user_id).update(name="Grace")
            Application.objects.filter(pk=row.application_id).update(name="Renamed")
            Session.objects.filter(pk=row.session_id).update(last_used_at=Now())

            assert redeem_there(row)

    def test_leaves_a_code_whose_user_is_deleted_meanwhile(self, acme, user, issue, find, redeem_there):
        row = find(issue()).row
        with acme.active():
            User.objects.get(pk=user.pk).delete()

        assert not redeem_there(row)

    def test_does_not_wait_for_a_browser_that_is_forgotten(self, acme, issue, find, redeem_there):
        code = issue()
        with acme.active():
            for model in (Session, AuthorizationCode):
                model.objects.update(remembered=True)
        row = find(code).row
        with acme.active(), transaction.atomic():
            forgetting.forget_all(row.user)

            assert not redeem_there(row)


class TestRememberedBrowser:
    @pytest.fixture
    def row(self, acme, session, issue, find):
        """A code of a session in which no second factor was asked for, as the token endpoint reads it."""
        with acme.active():
            Session.objects.filter(pk=session.pk).update(remembered=True)
        session.remembered = True
        return find(issue()).row

    def has_remembered_family(self, acme):
        with acme.active():
            return RefreshFamily.objects.get().remembered

    @pytest.mark.parametrize("if_free", [False, True])
    def test_the_family_counts_as_remembered(self, acme, row, redeem, if_free):
        assert redeem(row, if_free=if_free)

        assert self.has_remembered_family(acme)

    def test_not_if_the_browser_is_forgotten_meanwhile(self, acme, user, row, redeem):
        with acme.active():
            forgetting.forget_all(user)

        assert not redeem(row, if_free=True)
        assert redeem(row)

        assert not self.has_remembered_family(acme)

    @pytest.mark.parametrize("which", [Session, AuthorizationCode])
    def test_without_waiting_it_needs_both_to_be_remembered(self, acme, row, redeem, which):
        with acme.active():
            which.objects.update(remembered=False)

        assert not redeem(row, if_free=True)

    @only_postgresql
    @pytest.mark.parametrize("if_free", [False, True])
    def test_a_browser_is_forgotten_after_a_redemption_that_has_begun(self, acme, user, row, redeem, if_free):
        def forget_there():
            try:
                with acme.active():
                    forgetting.forget_all(user)
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as pool:
            with acme.active(), transaction.atomic():
                assert redeem(row, if_free=if_free)
                forgotten = pool.submit(forget_there)
                assert wait_until(lambda: count_waiting() >= 1)
            forgotten.result()

        assert not self.has_remembered_family(acme)

    @only_postgresql
    def test_not_if_it_is_forgotten_at_the_same_moment(self, acme, user, row, redeem):
        def redeem_there():
            try:
                return redeem(row)
            finally:
                connection.close()

        with ThreadPoolExecutor(1) as pool:
            with acme.active(), transaction.atomic():
                forgetting.forget_all(user)
                redeemed = pool.submit(redeem_there)
                assert wait_until(lambda: count_waiting() >= 1)
            assert redeemed.result()

        assert not self.has_remembered_family(acme)


class TestRevokeIssued:
    def test_ends_the_family_and_no_token_beside_it(self, acme, application, session):
        with acme.active():
            family, other = new_family(application, session), new_family(application, session)
            code = new_code(application, session, family_id=family.pk, access_token_id="t")

            codes.revoke_issued(code)

            ended = RefreshFamily.objects.get(pk=family.pk)
            assert RefreshFamily.objects.get(pk=other.pk).ended_at is None
            assert not RevokedToken.objects.exists()
        assert ended.end_reason == "code_reused"
        (entry,) = entries(acme, Event.TOKEN_REVOKE)
        assert (entry.user_id, entry.application_id) == (str(session.user_id), str(application.pk))

    def test_revokes_the_access_token_without_a_family(self, acme, application, session):
        with acme.active():
            token = {"access_token_id": str(ids.new()), "access_token_expires_at": EXPIRY}
            code = new_code(application, session, **token)

            codes.revoke_issued(code, reason="why")

            assert RevokedToken.objects.get().expires_at == EXPIRY
        (entry,) = entries(acme, Event.TOKEN_REVOKE)
        assert (entry.user_id, entry.application_id) == (str(session.user_id), str(application.pk))
        assert entry.payload["reason"] == "why"

    def test_reads_what_another_request_issued(self, acme, application, session):
        with acme.active():
            code = new_code(application, session)
            family = new_family(application, session)
            AuthorizationCode.objects.update(family_id=family.pk)

            codes.revoke_issued(code)

            assert RefreshFamily.objects.get().ended_at is not None

    def test_of_a_code_that_is_gone_or_issued_nothing_revokes_nothing(self, acme, application, session):
        with acme.active():
            gone = new_code(application, session)
            AuthorizationCode.objects.all().delete()

            codes.revoke_issued(gone)
            codes.revoke_issued(new_code(application, session))

            assert not RevokedToken.objects.exists()
        assert entries(acme, Event.TOKEN_REVOKE) == []


class TestEndOfTrial:
    def test_deletes_a_code_that_was_not_redeemed(self, acme, application, session):
        with acme.active():
            code, other = new_code(application, session), new_code(application, session)

            codes.end_trial(code, reason="trial")

            assert AuthorizationCode.objects.get() == other

    def test_revokes_what_a_redeemed_code_issued(self, acme, application, session):
        with acme.active():
            family = new_family(application, session)
            code = new_code(application, session, family_id=family.pk, consumed_at=PAST)

            codes.end_trial(code, reason="trial")

            assert AuthorizationCode.objects.get() == code
            assert RefreshFamily.objects.get().end_reason == "trial"


def test_the_last_application_is_that_of_the_newest_code_of_the_session(acme, application, user, session):
    other = acme.application().application
    with acme.active():
        assert codes.find_last_application(session) is None
        new_code(application, session)
        new_code(other, session)
        new_code(application, new_session(user))

        assert codes.find_last_application(session) == other

"""Which grants may be deleted: an hour after the last time that each of them was needed."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.conf import settings

from identity.sessions.models import Session
from oidc.grants.expiry import EXPIRING
from oidc.grants.models import AuthorizationCode, AuthorizationRequest, RefreshFamily, RevokedToken
from tests.support.grant_rows import new_code, new_family, new_session

KEPT = timedelta(hours=1)
IDLE = timedelta(seconds=settings.SESSION_IDLE_SECONDS)
MINUTE = timedelta(minutes=1)
KINDS = {kind.name: kind.find_expired for kind in EXPIRING}


@pytest.fixture
def session(acme):
    user = acme.user()
    with acme.active():
        return new_session(user)


def ago(time):
    return datetime.now(UTC) - time


def may_be_deleted(kind, row):
    return KINDS[kind]().filter(pk=row.pk).exists()


@pytest.mark.parametrize(("age", "is_over"), [(KEPT - MINUTE, False), (KEPT + MINUTE, True)])
class TestAnHourAfterItExpired:
    def test_a_request(self, acme, application, age, is_over):
        with acme.active():
            row = AuthorizationRequest.objects.create(
                browser="x", application=application, query="", expires_at=ago(age)
            )
            assert may_be_deleted("authorization_requests", row) is is_over

    def test_a_revoked_token(self, acme, age, is_over):
        with acme.active():
            row = RevokedToken.objects.create(token_id=str(uuid4()), expires_at=ago(age))
            assert may_be_deleted("revoked_tokens", row) is is_over

    @pytest.mark.parametrize("column", ["ended_at", "idle_expires_at", "expires_at"])
    def test_a_refresh_family_by_the_first_of_its_ends(self, acme, session, column, age, is_over):
        application = acme.application().application
        with acme.active():
            row = new_family(application, session, **{column: ago(age)})
            assert may_be_deleted("refresh_families", row) is is_over

    @pytest.mark.parametrize("column", ["ended_at", "expires_at", "last_used_at"])
    def test_a_session_by_the_first_of_its_ends(self, acme, session, column, age, is_over):
        with acme.active():
            end = ago(age + IDLE if column == "last_used_at" else age)
            Session.objects.update(**{column: end})
            assert may_be_deleted("sessions", session) is is_over

    def test_a_code_that_was_not_redeemed(self, acme, application, session, age, is_over):
        with acme.active():
            row = new_code(application, session, expires_at=ago(age))
            assert may_be_deleted("authorization_codes", row) is is_over

    def test_a_code_by_its_access_token(self, acme, application, session, age, is_over):
        with acme.active():
            row = new_code(application, session, expires_at=ago(10 * KEPT), access_token_expires_at=ago(age))
            assert may_be_deleted("authorization_codes", row) is is_over

    def test_a_code_by_itself_though_its_token_is_over(self, acme, application, session, age, is_over):
        with acme.active():
            row = new_code(application, session, expires_at=ago(age), access_token_expires_at=ago(10 * KEPT))
            assert may_be_deleted("authorization_codes", row) is is_over


class TestACodeWithARefreshFamily:
    """Its second use has to be recognised while the family is live."""

    def code_with(self, application, session, **family):
        row = new_family(application, session, **family)
        new_family(application, session)  # another one, which is live
        return new_code(application, session, expires_at=ago(10 * KEPT), family_id=row.pk)

    def test_stays_while_the_family_is_live(self, acme, application, session):
        with acme.active():
            assert not may_be_deleted("authorization_codes", self.code_with(application, session))

    @pytest.mark.parametrize("column", ["ended_at", "idle_expires_at", "expires_at"])
    def test_goes_once_the_family_is_over(self, acme, application, session, column):
        with acme.active():
            code = self.code_with(application, session, **{column: ago(MINUTE)})
            assert may_be_deleted("authorization_codes", code)

    def test_goes_once_the_family_is_deleted(self, acme, application, session):
        with acme.active():
            code = self.code_with(application, session)
            RefreshFamily.objects.all().delete()
            assert may_be_deleted("authorization_codes", code)


def test_a_session_stays_while_a_code_of_it_is_stored(acme, application, session):
    with acme.active():
        other = new_session(session.user)
        Session.objects.update(ended_at=ago(10 * KEPT))
        new_code(application, session)

        assert not may_be_deleted("sessions", session)
        assert may_be_deleted("sessions", other)

        AuthorizationCode.objects.all().delete()
        assert may_be_deleted("sessions", session)

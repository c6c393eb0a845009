"""Refresh families: which can be refreshed, what rotates them, and what ends them."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db.models import F

from audit import log
from audit.events import Event
from audit.metrics import ENTRIES
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import families
from oidc.grants.families import ParsedToken
from oidc.grants.models import RefreshFamily
from tests.support import cast
from tests.support.audit_log import entries
from tests.support.grant_rows import new_family, new_session

PAST = datetime.now(UTC) - timedelta(minutes=1)


@pytest.fixture
def family(acme, application, user):
    with acme.active():
        return new_family(application, new_session(user))


@pytest.fixture
def find(acme, application, family):
    """Find the family as it is now."""

    def find(**of):
        with acme.active():
            return families.find(family.pk, client_id=of.get("client_id", application.client_id))

    return find


@pytest.fixture
def rotate(acme, find):
    """Present a generation of the family as it was found, now or before."""

    def rotate(generation, found=None):
        family = (found or find()).row
        with acme.active():
            return families.rotate(family, generation, log.new_entry(Event.TOKEN_REFRESH))

    return rotate


def counted(event):
    return ENTRIES.labels(event.value, "success")._value.get()


class TestFind:
    def test_a_family_of_the_application_is_refreshable(self, find, family):
        found = find()

        assert found.row == family
        assert (found.is_refreshable, found.in_grace) == (True, True)

    def test_a_family_of_another_application_is_not_found(self, acme, find):
        assert find(client_id=acme.application().application.client_id) is None

    def test_case_G01_a_family_of_another_tenant_is_not_found(self, application, family):
        with cast.new_world("Rival").active():
            assert families.find(family.pk, client_id=application.client_id) is None

    @pytest.mark.parametrize("column", ["ended_at", "idle_expires_at", "expires_at"])
    def test_a_family_that_ended_or_expired_is_not_refreshable(self, acme, find, column):
        with acme.active():
            RefreshFamily.objects.update(**{column: PAST})

        assert not find().is_refreshable

    @pytest.mark.parametrize("change", [{"is_suspended": True}, {"epoch": F("epoch") + 1}])
    def test_case_D10_a_family_of_a_user_who_may_not_sign_in_is_not_refreshable(
        self, acme, find, user, change
    ):
        with acme.active():
            User.objects.filter(pk=user.pk).update(**change)

        assert not find().is_refreshable

    def test_a_live_family_beyond_a_lowered_lifetime_is_not_refreshable(self, acme, find, application):
        with acme.active():
            RefreshFamily.objects.update(rotated_at=PAST)
            Application.objects.filter(pk=application.pk).update(effective_refresh_idle_seconds=30)

            assert RefreshFamily.objects.live().exists()
            assert not RefreshFamily.objects.refreshable().exists()
        assert not find().is_refreshable

    def test_the_grace_ends(self, acme, find):
        with acme.active():
            RefreshFamily.objects.update(rotated_at=PAST)

        assert (find().is_refreshable, find().in_grace) == (True, False)


class TestRotate:
    def test_the_newest_generation_is_rotated_and_audited(self, acme, find, rotate):
        before = counted(Event.TOKEN_REFRESH)

        newest = rotate(0)

        assert newest.generation == 1
        assert find().row.generation == 1
        assert len(entries(acme, Event.TOKEN_REFRESH)) == 1
        assert counted(Event.TOKEN_REFRESH) == before + 1

    def test_no_other_family_is_rotated(self, acme, application, user, rotate):
        with acme.active():
            other = new_family(application, new_session(user))

        rotate(0)

        with acme.active():
            assert RefreshFamily.objects.get(pk=other.pk).generation == 0

    def test_of_two_requests_at_once_the_second_gets_what_the_first_got(self, acme, find, rotate):
        one, other = find(), find()
        rotate(0, one)

        newest = rotate(0, other)

        assert newest.generation == 1
        assert find().row.generation == 1
        assert len(entries(acme, Event.TOKEN_REFRESH)) == 2

    def test_the_generation_before_is_repeated_in_the_grace_only(self, acme, find, rotate):
        rotate(0)
        before = counted(Event.TOKEN_REFRESH)
        assert rotate(0).generation == 1
        assert counted(Event.TOKEN_REFRESH) == before + 1
        with acme.active():
            RefreshFamily.objects.update(rotated_at=PAST)

        assert rotate(0) is None

        assert find().row.end_reason == "replayed"

    def test_a_generation_two_before_ends_the_family(self, acme, find, rotate):
        rotate(0)
        rotate(1)

        assert rotate(0) is None

        assert (find().is_refreshable, find().row.end_reason) == (False, "replayed")
        assert [entry.payload["reason"] for entry in entries(acme, Event.TOKEN_REVOKE)] == ["replayed"]
        assert len(entries(acme, Event.TOKEN_REFRESH)) == 2

    def test_a_generation_that_was_never_issued_ends_the_family(self, find, rotate):
        assert rotate(1) is None

        assert find().row.end_reason == "unknown_generation"

    @pytest.mark.parametrize("generation", [0, 1])
    @pytest.mark.parametrize("column", ["ended_at", "idle_expires_at", "expires_at"])
    def test_a_family_that_ends_at_the_same_time_is_not_rotated(self, acme, find, rotate, column, generation):
        rotate(0)
        found = find()
        with acme.active():
            RefreshFamily.objects.update(**{column: PAST})

        assert rotate(generation, found) is None

        assert find().row.generation == 1
        assert len(entries(acme, Event.TOKEN_REFRESH)) == 1

    def test_a_family_that_is_deleted_at_the_same_time_is_not_rotated(self, acme, find, rotate):
        found = find()
        with acme.active():
            RefreshFamily.objects.all().delete()

        assert rotate(0, found) is None

        assert entries(acme, Event.TOKEN_REFRESH) == []


class TestEnd:
    def test_is_audited_once_with_the_first_reason(self, acme, application, user, family, find):
        before = counted(Event.TOKEN_REVOKE)
        with acme.active():
            for reason in ("revoked", "replayed"):
                families.end(family.pk, reason=reason, user_id=user.pk, application_id=application.pk)

        assert (find().is_refreshable, find().row.end_reason) == (False, "revoked")
        (entry,) = entries(acme, Event.TOKEN_REVOKE)
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(application.pk))
        assert entry.payload["family_id"] == str(family.pk)
        assert counted(Event.TOKEN_REVOKE) == before + 1


class TestToken:
    def test_names_its_family_and_generation(self, find, rotate):
        newest = rotate(0)

        parsed = families.parse_token(families.build_token(newest))

        assert parsed == ParsedToken(newest.pk, 1)

    @pytest.mark.parametrize("part", range(4))
    def test_that_is_altered_is_none(self, family, part):
        parts = families.build_token(family).split(".")
        parts[part] = [str(uuid4()), "1", "0" * 8, "A" * 43][part]

        assert families.parse_token(".".join(parts)) is None

    def test_with_more_before_or_after_it_is_none(self, family):
        token = families.build_token(family)

        assert families.parse_token(token) is not None
        for text in (f"{token}\n", f" {token}", f"{token}A", token.upper(), token.replace(".0.", ".00.")):
            assert families.parse_token(text) is None

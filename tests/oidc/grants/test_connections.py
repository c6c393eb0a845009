"""The applications that have access to a user's account, and what ends when the user revokes it."""

from datetime import UTC, datetime, timedelta
from threading import Event as Signal
from uuid import uuid4

import pytest
from django.db import connection, transaction

from audit.events import Event
from identity.users import ownership, row_locks
from identity.users.identifiers import Kind
from oidc.grants import connections, consents
from oidc.grants.connections import NotConnected
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import AuthorizationCode, Consent, ConsentTarget, RefreshFamily
from tests.support.audit_log import entries
from tests.support.grant_rows import new_api, new_code, new_family, new_organization, new_session
from tests.support.threads import at_once, count_waiting, wait_until


def third_party(acme, name="Third"):
    return acme.application(name=name, is_third_party=True).application


def first_party(acme, name="First"):
    return acme.application(name=name).application


def connect(user, application):
    """Let an application have a consent, a code and a refresh family of a user."""
    session = new_session(user)
    consents.grant(user, application, ConsentRequest(("openid",)))
    new_code(application, session)
    new_family(application, session)


def left():
    """What is left: consents, codes, and refresh families that have not ended."""
    families = RefreshFamily.objects.filter(ended_at=None).count()
    return Consent.objects.count(), AuthorizationCode.objects.count(), families


class TestGetConnections:
    def test_a_consent_has_scopes_and_targets_in_their_order(self, acme, user):
        application = third_party(acme)
        with acme.active():
            api, organization = new_api(), new_organization()
            consents.grant(user, application, ConsentRequest(("openid",), None, (), organization.pk, ()))
            consents.grant(user, application, ConsentRequest(("email",), api.pk, ("read",)))

            (found,) = connections.get_connections(user)

            assert found.application == application
            assert found.scopes == {"openid", "email"}
            assert [target.organization_id for target in found.targets] == [organization.pk, None]
            assert found.since == Consent.objects.get().created_at
            assert found.last_used_at is None

    def test_a_first_partys_refresh_tokens_have_their_own_scopes(self, acme, user):
        application, now = first_party(acme), datetime.now(UTC)
        with acme.active():
            session = new_session(user)
            old = new_family(application, session, scope="openid email", rotated_at=now)
            new = new_family(application, session, scope="openid phone", rotated_at=now - timedelta(hours=1))

            (found,) = connections.get_connections(user)

            assert found.scopes == {"openid", "email", "phone"}
            assert found.since == min(old.created_at, new.created_at)
            assert found.last_used_at == now

    def test_a_third_partys_refresh_tokens_count_with_its_consent_only(self, acme, user):
        agreed, revoked = third_party(acme, "Agreed"), third_party(acme, "Revoked")
        with acme.active():
            session = new_session(user)
            consents.grant(user, agreed, ConsentRequest(("openid",)))
            family = new_family(agreed, session, scope="openid email")
            new_family(revoked, session)

            (found,) = connections.get_connections(user)

            assert (found.application, found.scopes) == (agreed, {"openid"})
            assert found.last_used_at == family.rotated_at
            assert connections.count_connections(user) == 1

    def test_only_live_refresh_tokens_of_this_user_count_by_name(self, acme, user):
        other = acme.user()
        with acme.active():
            mine, theirs = new_session(user), new_session(other)
            for name in ("b", "C", "a"):
                new_family(first_party(acme, name), mine)
            new_family(first_party(acme, "ended"), mine, ended_at=datetime.now(UTC))
            new_family(first_party(acme, "other"), theirs)
            consents.grant(other, third_party(acme, "others"), ConsentRequest(("openid",)))

            found = connections.get_connections(user)

            assert [connection.application.name for connection in found] == ["a", "b", "C"]
            assert connections.count_connections(user) == 3


class TestRevoke:
    def test_ends_everything_of_the_application_and_nothing_else(self, acme, user):
        other_user, application, other = acme.user(), third_party(acme), third_party(acme)
        with acme.active():
            for person, program in ((user, application), (user, other), (other_user, application)):
                connect(person, program)

            assert connections.revoke(user, str(application.pk)) == application

            assert left() == (2, 2, 2)
            mine = {"user": user, "application": application}
            assert not Consent.objects.filter(**mine).exists()
            assert not AuthorizationCode.objects.filter(**mine).exists()
            assert RefreshFamily.objects.get(**mine).end_reason == "consent_revoked"
        (entry,) = entries(acme, Event.CONSENT_REVOKE)
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(application.pk))
        assert entry.payload["families"] == 1

    def test_a_redeemed_code_is_kept_to_notice_its_second_use(self, acme, user):
        application = third_party(acme)
        with acme.active():
            consents.grant(user, application, ConsentRequest(("openid",)))
            new_code(application, new_session(user), consumed_at=datetime.now(UTC))

            connections.revoke(user, str(application.pk))

            assert left() == (0, 1, 0)

    @pytest.mark.parametrize("kept", ["consent", "family"])
    def test_one_of_both_is_enough(self, acme, user, kept):
        application = first_party(acme)
        with acme.active():
            if kept == "consent":
                consents.grant(user, application, ConsentRequest(("openid",)))
            else:
                new_family(application, new_session(user))

            connections.revoke(user, str(application.pk))

            assert left() == (0, 0, 0)

    def test_of_nothing_is_refused(self, acme, user):
        other_user, application, other = acme.user(), third_party(acme), third_party(acme)
        with acme.active():
            consents.grant(other_user, application, ConsentRequest(("openid",)))
            consents.grant(user, other, ConsentRequest(("openid",)))

            for unknown in (str(application.pk), str(uuid4()), "x", ""):
                with pytest.raises(NotConnected):
                    connections.revoke(user, unknown)

            assert left() == (2, 0, 0)
        assert entries(acme, Event.CONSENT_REVOKE) == []

    def test_an_unknown_application_is_none_of_the_known_ones(self, acme, user):
        application = third_party(acme)
        with acme.active():
            consents.grant(user, application, ConsentRequest(("openid",)))

            with pytest.raises(NotConnected):
                connections.revoke(user, str(uuid4()))

            assert left() == (1, 0, 0)


class TestRevokeTarget:
    @pytest.fixture
    def application(self, acme):
        return third_party(acme)

    @pytest.mark.parametrize("kind", ["resource_id", "organization_id"])
    def test_ends_one_target_and_names_it_in_the_log(self, acme, user, application, kind):
        with acme.active():
            api, organization = new_api(), new_organization()
            consents.grant(
                user, application, ConsentRequest(("openid",), api.pk, ("read",), organization.pk, ("see",))
            )
            new_family(application, new_session(user))
            target = ConsentTarget.objects.exclude(**{kind: None}).get()

            connections.revoke_target(user, str(application.pk), str(target.pk))

            assert left() == (1, 0, 1)
            (rest,) = ConsentTarget.objects.all()
            assert getattr(rest, kind) is None
        (entry,) = entries(acme, Event.CONSENT_REVOKE)
        named = {
            name: entry.payload[name] for name in ("resource_id", "organization_id") if name in entry.payload
        }
        assert named == {kind: str(getattr(target, kind))}
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(application.pk))

    def test_of_others_is_refused(self, acme, user, application):
        """The target of another user or application, an unknown one, and no consent at all."""
        other_user, other = acme.user(), third_party(acme)
        with acme.active():
            api, organization = new_api(), new_organization()
            consents.grant(other_user, application, ConsentRequest((), api.pk, ("read",)))
            theirs = ConsentTarget.objects.get()
            with pytest.raises(NotConnected):  # the user has no consent yet
                connections.revoke_target(user, str(application.pk), str(theirs.pk))
            consents.grant(user, application, ConsentRequest((), api.pk, ("read",)))
            consents.grant(user, other, ConsentRequest((), None, (), organization.pk, ()))
            of_other = ConsentTarget.objects.exclude(organization=None).get()
            of_application = ConsentTarget.objects.get(consent__user=user, consent__application=application)

            for target in (str(theirs.pk), str(of_other.pk), str(uuid4()), "x", ""):
                with pytest.raises(NotConnected):
                    connections.revoke_target(user, str(application.pk), target)
            for program in (str(other.pk), str(uuid4())):
                with pytest.raises(NotConnected):
                    connections.revoke_target(user, program, str(of_application.pk))

            assert ConsentTarget.objects.count() == 3
        assert entries(acme, Event.CONSENT_REVOKE) == []


@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)
def test_a_user_disconnects_at_the_moment_at_which_the_account_gets_its_owner_back(acme, user):
    """The consent is deleted, its codes and refresh tokens are not yet, when the owner comes."""
    application, begun = third_party(acme), Signal()
    with acme.active():
        connect(user, application)

    def pause(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if sql.startswith("DELETE") and f'"{Consent._meta.db_table}"' in sql and not begun.is_set():
            begun.set()
            assert wait_until(lambda: count_waiting() > 0)
        return result

    def work(index):
        with acme.active(), transaction.atomic():
            if index:
                assert begun.wait(20)
                row_locks.lock(user)
                ownership.take_over(user, [Kind.EMAIL])
            else:
                with connection.execute_wrapper(pause):
                    connections.revoke(user, str(application.pk))

    at_once(2, work)

    with acme.active():
        assert left() == (0, 0, 0)

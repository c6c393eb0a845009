"""Consents: what counts as agreed to, what a grant adds, and what ends with an administrator's trial."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from audit.events import Event
from database import batching
from oidc.grants import consents
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import Consent, ConsentTarget, RefreshFamily
from tests.support import cast
from tests.support.audit_log import entries
from tests.support.grant_rows import new_api, new_code, new_family, new_organization, new_session


@pytest.fixture
def application(acme):
    return acme.application(is_third_party=True).application


def find(user, application):
    found = batching.run(consents.find(user.pk, application.pk))
    assert found is not None
    return found


class TestGrant:
    def test_adds_scopes_and_targets_to_the_consent(self, acme, user, application):
        with acme.active():
            api, organization = new_api(), new_organization()
            consents.grant(user, application, ConsentRequest(("openid",)))
            first = Consent.objects.get()

            consents.grant(
                user,
                application,
                ConsentRequest(("email",), api.pk, ("read",), organization.pk, ("see",)),
            )
            consents.grant(
                user, application, ConsentRequest((), api.pk, ("write",), organization.pk, ("act",))
            )

            found = find(user, application)
            assert found.id == first.pk
            assert found.created_at == first.created_at
            assert found.identity == {"openid", "email"}
            assert {pk: target.scopes for pk, target in found.resources.items()} == {
                api.pk: {"read", "write"}
            }
            assert found.organizations[organization.pk].scopes >= {"see", "act"}
            assert found.find_scopes(api.pk, organization.pk) == {"read", "write"}
            assert Consent.objects.get().updated_at > first.updated_at
            for target in ConsentTarget.objects.all():
                assert target.updated_at > target.created_at

    def test_records_each_target_with_its_scopes(self, acme, user, application):
        with acme.active():
            api, organization = new_api(), new_organization()

            consents.grant(user, application, ConsentRequest(("openid",)))
            consents.grant(user, application, ConsentRequest((), api.pk, ("read",)))
            consents.grant(user, application, ConsentRequest((), None, (), organization.pk, ("see",)))

        recorded = entries(acme, Event.CONSENT_GRANT)
        assert [entry.payload["scopes"] for entry in recorded] == [["openid"], [], []]
        assert {entry.user_id for entry in recorded} == {str(user.pk)}
        assert {entry.application_id for entry in recorded} == {str(application.pk)}
        named = [
            {name: value for name, value in entry.payload.items() if name.startswith(("resource", "organiz"))}
            for entry in recorded
        ]
        assert named == [
            {},
            {"resource_id": str(api.pk), "resource_scopes": ["read"]},
            {"organization_id": str(organization.pk), "organization_scopes": ["see"]},
        ]

    def test_records_nothing_if_the_consent_has_it_all(self, acme, user, application):
        with acme.active():
            api, organization = new_api(), new_organization()
            grown = ConsentRequest(("openid",), api.pk, ("read",), organization.pk, ("see",))
            parts = [ConsentRequest(("openid",)), ConsentRequest((), api.pk, ("read",)), ConsentRequest(())]

            for request in (grown, grown, *parts):
                consents.grant(user, application, request)
            consents.grant(user, application, ConsentRequest((), api.pk, ("write",)))

        assert len(entries(acme, Event.CONSENT_GRANT)) == 2

    @pytest.mark.parametrize(
        ("was_old", "granted", "is_old"),
        [
            (True, ("openid",), True),
            (True, ("openid", "profile"), False),
            (False, ("openid",), False),
            (False, ("profile",), False),
        ],
    )
    def test_a_new_consent_to_the_profile_replaces_the_old_one(
        self, acme, application, was_old, granted, is_old
    ):
        user = acme.user()
        with acme.active():
            Consent.objects.create(
                user=user, application=application, scopes=["profile"], has_old_profile=was_old
            )

            consents.grant(user, application, ConsentRequest(granted))

            assert find(user, application).has_old_profile is is_old


class TestFind:
    def test_is_of_this_user_and_this_application(self, acme, user, application):
        other_user, other_application = acme.user(), acme.application().application
        with acme.active():
            consents.grant(other_user, application, ConsentRequest(("email",)))
            consents.grant(user, other_application, ConsentRequest(("phone",)))

            assert batching.run(consents.find(user.pk, application.pk)) is None
            assert consents.find_id(user.pk, application.pk) is None

            consents.grant(user, application, ConsentRequest(("openid",)))

            found = find(user, application)
            assert found.identity == {"openid"}
            assert consents.find_id(user.pk, application.pk) == found.id

    def test_is_not_of_another_tenant(self, acme, database, user, application):
        with acme.active():
            consents.grant(user, application, ConsentRequest(("openid",)))

        with cast.new_world("Rival").active():
            assert batching.run(consents.find(user.pk, application.pk)) is None
            assert consents.find_id(user.pk, application.pk) is None


API, ORGANIZATION, OTHER = uuid4(), uuid4(), uuid4()


def granted(identity=("openid", "profile"), *, old=False, api=(), organization=()):
    """A consent with these scopes of ``API`` and of ``ORGANIZATION``."""

    def target(scopes):
        return consents.GrantedTarget(uuid4(), frozenset(scopes))

    return consents.GrantedConsent(
        uuid4(),
        datetime.now(UTC),
        frozenset(identity),
        has_old_profile=old,
        resources={API: target(api)} if api else {},
        organizations={ORGANIZATION: target(organization)} if organization else {},
    )


class TestCovers:
    @pytest.mark.parametrize(
        ("consent", "request_", "expected"),
        [
            (None, ConsentRequest(()), False),
            (granted(()), ConsentRequest(()), True),
            (granted(), ConsentRequest(("openid",)), True),
            (granted(), ConsentRequest(("openid", "email")), False),
            (granted(old=True), ConsentRequest(("openid",)), True),
            (granted(old=True), ConsentRequest(("openid", "profile")), False),
            (granted(old=False), ConsentRequest(("openid", "profile")), True),
            # an API
            (granted(api=["read"]), ConsentRequest((), API, ("read",)), True),
            (granted(api=["read"]), ConsentRequest((), API, ()), True),
            (granted(api=["read"]), ConsentRequest((), API, ("read", "write")), False),
            (granted(api=["read"]), ConsentRequest((), OTHER, ("read",)), False),
            (granted(), ConsentRequest((), API, ()), False),
            # an organization, which is no API
            (granted(organization=["see"]), ConsentRequest((), None, (), ORGANIZATION, ("see",)), True),
            (granted(organization=["see"]), ConsentRequest((), None, (), ORGANIZATION, ("act",)), False),
            (granted(organization=["see"]), ConsentRequest((), None, (), OTHER, ("see",)), False),
            (granted(organization=["see"]), ConsentRequest((), ORGANIZATION, ("see",)), False),
            (granted(api=["see"]), ConsentRequest((), None, (), API, ("see",)), False),
            # both: each has to be covered
            (granted(api=["r"]), ConsentRequest((), API, ("r",), ORGANIZATION, ("s",)), False),
            (granted(organization=["s"]), ConsentRequest((), API, ("r",), ORGANIZATION, ("s",)), False),
            (
                granted(api=["r"], organization=["s"]),
                ConsentRequest((), API, ("r",), ORGANIZATION, ("s",)),
                False,
            ),
        ],
    )
    def test_each_scope_for_its_own_target(self, consent, request_, expected):
        assert consents.covers(consent, request_) is expected

    def test_an_organization_is_one_of_the_consent(self):
        consent = granted(api=["read"], organization=["see"])

        assert consents.has_organization(consent, str(ORGANIZATION)) is True
        assert [consents.has_organization(consent, text) for text in (str(API), "", "x")] == [False] * 3
        assert consents.has_organization(None, str(ORGANIZATION)) is False


class TestLimitedTo:
    """What the page did not show is not granted, though the stored request has it."""

    ASKED = ConsentRequest(("openid", "email"), API, ("read", "write"), ORGANIZATION, ("see", "act"))

    def test_all_of_it_was_shown(self):
        assert self.ASKED.limited_to(self.ASKED.to_json()) == self.ASKED

    @pytest.mark.parametrize(
        ("shown", "limited"),
        [
            ({"identity": ["openid"]}, {"identity": ("openid",)}),
            ({"identity": ["phone"]}, {"identity": ()}),
            ({"resource_scopes": ["read", "delete"]}, {"resource_scopes": ("read",)}),
            ({"resource_id": str(OTHER)}, {"resource_id": None, "resource_scopes": ()}),
            ({"resource_id": None}, {"resource_id": None, "resource_scopes": ()}),
            ({"organization_scopes": ["act"]}, {"organization_scopes": ("act",)}),
            ({"organization_id": str(OTHER)}, {"organization_id": None, "organization_scopes": ()}),
            ({"organization_id": None}, {"organization_id": None, "organization_scopes": ()}),
        ],
    )
    def test_only_a_part_was_shown(self, shown, limited):
        found = self.ASKED.limited_to(self.ASKED.to_json() | shown)

        assert {name: getattr(found, name) for name in self.ASKED.__slots__} == {
            name: getattr(self.ASKED, name) for name in self.ASKED.__slots__
        } | limited

    def test_is_stored_with_texts_for_ids(self):
        assert self.ASKED.to_json() == {
            "identity": ["openid", "email"],
            "resource_id": str(API),
            "resource_scopes": ["read", "write"],
            "organization_id": str(ORGANIZATION),
            "organization_scopes": ["see", "act"],
        }
        nothing = ConsentRequest(()).to_json()
        assert (nothing["resource_id"], nothing["organization_id"]) == (None, None)

    def test_has_a_row_for_each_target(self, acme):
        with acme.active():
            at_api, in_organization = self.ASKED.targets()
            words = [f"{at_api.pk} ", f"{at_api.pk} read", f"{at_api.pk} write"]
            assert (at_api.resource_id, at_api.organization_id) == (API, None)
            assert at_api.scopes == ["read", "write"]
            assert (in_organization.resource_id, in_organization.organization_id) == (None, ORGANIZATION)
            assert in_organization.scopes == ["see", "act", *words]
            assert ConsentRequest(("openid",)).targets() == []


class TestRevokeOfTrial:
    @pytest.fixture
    def begun_at(self):
        return datetime.now(UTC) - timedelta(seconds=1)

    @pytest.fixture
    def code(self, acme, user, application):
        """The code of a trial in which the user agreed."""
        with acme.active():
            consents.grant(user, application, ConsentRequest(("openid",)))
            consent_id = Consent.objects.get().pk
            return new_code(application, new_session(user), consent_id=consent_id)

    def revoke(self, acme, code, begun_at):
        with acme.active():
            return consents.revoke_for_trial(code, given_since=begun_at), Consent.objects.exists()

    def test_a_consent_of_the_trial_goes_with_an_audit_entry(self, acme, user, application, code, begun_at):
        assert self.revoke(acme, code, begun_at) == (True, False)

        (entry,) = entries(acme, Event.CONSENT_REVOKE)
        assert entry.payload["reason"] == "test_ended"
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(application.pk))

    def test_a_code_without_a_consent_revokes_none(self, acme, code, begun_at):
        code.consent_id = None

        assert self.revoke(acme, code, begun_at) == (False, True)

    def test_an_older_consent_stays(self, acme, code, begun_at):
        with acme.active():
            Consent.objects.update(created_at=begun_at - timedelta(seconds=1))

        assert self.revoke(acme, code, begun_at) == (False, True)
        assert entries(acme, Event.CONSENT_REVOKE) == []

    def test_a_consent_that_is_gone_is_not_revoked(self, acme, code, begun_at):
        with acme.active():
            Consent.objects.all().delete()
            consents.grant(acme.user(), acme.application().application, ConsentRequest(("openid",)))

        assert self.revoke(acme, code, begun_at) == (False, True)

    def test_the_consent_of_another_code_stays(self, acme, code, begun_at):
        with acme.active():
            new_code(code.application, code.session, consent_id=code.consent_id)

        assert self.revoke(acme, code, begun_at) == (False, True)

    @pytest.mark.parametrize("is_live", [True, False])
    def test_the_consent_of_a_refresh_token_stays_while_it_is_live(self, acme, code, begun_at, is_live):
        with acme.active():
            new_family(code.application, code.session, consent_id=code.consent_id)
            if not is_live:
                RefreshFamily.objects.update(ended_at=datetime.now(UTC))

        assert self.revoke(acme, code, begun_at) == (not is_live, is_live)

    def test_codes_and_refresh_tokens_of_other_consents_do_not_count(self, acme, code, begun_at):
        with acme.active():
            new_code(code.application, code.session, consent_id=uuid4())
            new_family(code.application, code.session, consent_id=uuid4())

        assert self.revoke(acme, code, begun_at) == (True, False)

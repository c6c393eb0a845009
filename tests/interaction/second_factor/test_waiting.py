"""Which sign-ins wait for a second factor in a browser, and for how long."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F

from identity.factors.needed import FirstFactor
from identity.sessions import proof_secrets
from identity.users.models import User
from interaction.pending_sign_ins import services
from interaction.pending_sign_ins.models import PendingSignIn
from oidc.grants.models import AuthorizationRequest
from tests.support import cast

BROWSER = "b" * 64
SECRET = proof_secrets.new()
PAST = datetime.now(UTC) - timedelta(seconds=1)
SOON = datetime.now(UTC) + timedelta(minutes=10)


@pytest.fixture
def acme(database):
    """A tenant that no server serves."""
    return cast.new_world("Acme")


@pytest.fixture
def store(acme, user):
    """Store a sign-in that waits."""

    def store(**changes: Any) -> PendingSignIn:
        given: dict[str, Any] = {
            "browser": BROWSER,
            "request_id": None,
            "way": FirstFactor.PASSWORD,
            "amr": ["pwd"],
        }
        given |= {"level": 1, "auth_time": datetime.now(UTC), "channels": [], "reasons": ["prompt"]}
        given |= {"must_enrol": False, "keep_signed_in": False, "secret_hash": None, "proofs": ()}
        with acme.active():
            return services.store(changes.pop("user", user), **given | changes)

    return store


@pytest.fixture
def find(acme):
    def find(browser=BROWSER, request_id=None, proofs=()):
        with acme.active():
            if request_id is None:
                return services.NEWEST.first(browser=browser, proofs=proofs)
            return services.OF_REQUEST.first(browser=browser, proofs=proofs, request_id=request_id)

    return find


@pytest.fixture
def requests(acme):
    """The ids of two authorization requests."""
    application = acme.application().application
    values = {"browser": BROWSER, "query": "", "expires_at": SOON}
    with acme.active():
        return [AuthorizationRequest.objects.create(application=application, **values).pk for _ in range(2)]


def test_the_browser_finds_it_with_its_user(find, store, user):
    stored = store()

    assert find() == stored
    assert find().user == user


def test_no_other_browser_finds_it(find, store):
    store()

    assert find("c" * 64) is None


def test_the_browser_needs_the_secret_of_the_proof(find, store):
    stored = store(secret_hash="1" * 64)

    assert find() is None
    assert find(proofs=("2" * 64,)) is None
    assert find(proofs=("2" * 64, "1" * 64)) == stored


def test_a_new_one_does_not_replace_what_its_browser_cannot_open(acme, store):
    stored = store(secret_hash="1" * 64)

    store(secret_hash="2" * 64, proofs=("3" * 64,))
    with acme.active():
        assert PendingSignIn.objects.filter(pk=stored.pk).exists()

    store(secret_hash="3" * 64, proofs=("1" * 64,))
    with acme.active():
        assert not PendingSignIn.objects.filter(pk=stored.pk).exists()


def test_case_G01_no_other_tenant_finds_it(store):
    store()

    with cast.new_world("Rival").active():
        assert services.NEWEST.first(browser=BROWSER, proofs=()) is None


@pytest.mark.parametrize("change", [{"done_at": PAST}, {"expires_at": PAST}, {"tries": 10}, {"tries": 11}])
def test_it_ends(acme, find, store, change):
    store()
    with acme.active():
        PendingSignIn.objects.update(**change)

    assert find() is None


def test_it_ends_with_the_epoch_of_the_user(acme, find, store, user):
    store()
    with acme.active():
        User.objects.filter(pk=user.pk).update(epoch=F("epoch") + 1)

    assert find() is None


def test_it_has_ten_tries_of_its_own(acme, find, store, requests):
    counted, other = store(request_id=requests[0]), store(request_id=requests[1])
    with acme.active():
        for _ in range(9):
            services.count_try(counted)
        assert find(request_id=requests[0]) == counted
        services.count_try(counted)

    assert find(request_id=requests[0]) is None
    assert find(request_id=requests[1]) == other


def test_each_request_has_its_own_and_the_newest_counts_without_one(find, store, requests):
    first, second = (store(request_id=request) for request in requests)

    assert [find(request_id=request) for request in requests] == [first, second]
    assert find() == second


def test_a_new_one_replaces_that_of_the_same_browser_and_request(acme, find, store, requests):
    store(request_id=requests[0])
    kept = store(request_id=requests[1]), store(browser="c" * 64, request_id=requests[0])
    newest = store(request_id=requests[0])

    with acme.active():
        assert set(PendingSignIn.objects.all()) == {*kept, newest}


class TestReset:
    @pytest.fixture
    def is_allowed(self, acme, user):
        def is_allowed(browser=BROWSER, of=None, proofs=(SECRET.hash,)):
            with acme.active():
                return services.is_reset_allowed(of or User.objects.get(pk=user.pk), browser, proofs)

        return is_allowed

    @pytest.fixture
    def proven(self, acme, store):
        stored = store(way=FirstFactor.FORGOT_PASSWORD)
        with acme.active():
            services.allow_reset(stored, SECRET)
        return stored

    def test_is_allowed_where_the_factor_was_proven(self, proven, is_allowed):
        assert is_allowed()

    def test_stays_allowed_when_a_sign_in_waits_there(self, proven, store, is_allowed):
        store()

        assert is_allowed()

    def test_is_not_allowed_before(self, store, is_allowed):
        store(way=FirstFactor.FORGOT_PASSWORD)

        assert not is_allowed()

    def test_is_not_allowed_without_the_secret_of_the_proof(self, proven, is_allowed):
        assert not is_allowed(proofs=())

    def test_is_allowed_in_no_other_browser_and_to_no_other_user(self, acme, proven, is_allowed):
        assert not is_allowed("c" * 64)
        assert not is_allowed(of=acme.user())

    def test_is_not_allowed_by_a_sign_in(self, acme, store, is_allowed):
        store()
        with acme.active():
            PendingSignIn.objects.update(done_at=PAST)

        assert not is_allowed()

    def test_ends(self, acme, proven, is_allowed):
        with acme.active():
            PendingSignIn.objects.update(expires_at=PAST)

        assert not is_allowed()

    def test_ends_with_the_epoch(self, acme, user, proven, is_allowed):
        with acme.active():
            User.objects.filter(pk=user.pk).update(epoch=F("epoch") + 1)

        assert not is_allowed()

    def test_starts_no_session(self, acme, store):
        with acme.active(), pytest.raises(services.NothingPending):
            services.finish(store(way=FirstFactor.FORGOT_PASSWORD))

    def test_a_sign_in_allows_none(self, acme, store):
        with acme.active(), pytest.raises(services.NothingPending):
            services.allow_reset(store(), SECRET)

    @pytest.mark.parametrize("change", [{"done_at": PAST}, {"expires_at": PAST}, {"tries": 10}])
    def test_a_sign_in_that_ended_is_not_finished(self, acme, store, change):
        stored = store()
        with acme.active():
            PendingSignIn.objects.update(**change)

            with pytest.raises(services.NothingPending):
                services.finish(stored)

    def test_finishing_one_leaves_the_others(self, acme, store, find, requests):
        finished, other = store(request_id=requests[0]), store(request_id=requests[1])
        with acme.active():
            services.finish(finished)

        assert find(request_id=requests[0]) is None
        assert find(request_id=requests[1]) == other

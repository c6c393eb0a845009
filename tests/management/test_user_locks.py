"""DELETE /users/:id/locks and what else ends the locks of a user."""

import secrets
from dataclasses import replace

import pytest

from audit.models import Entry
from database import ids
from identity.limits import in_redis
from identity.limits.models import Counter
from identity.users import sign_in_locks
from tests.support import codes, second
from tests.support.account import NEW, send
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD
from tests.support.codes import new_email
from tests.support.management import refusal_of, result_of
from tests.support.operators import administrator, at, text_of

SIGN_IN = "/api/interaction/sign-in"
FAILURES = 3


@pytest.fixture(scope="module")
def guarded(address):
    """A server that locks after few failures, behind a proxy that the tests are."""
    with second.running(TRUSTED_PROXIES="127.0.0.1", LOCK_PAIR_FAILURES=str(FAILURES)) as address_:
        yield address_


@pytest.fixture
def world(guarded, acme):
    return replace(codes.reachable(acme), address=f"{guarded}/t/{acme.tenant.slug}")


@pytest.fixture
def ada(world):
    name = f"ada-{secrets.token_hex(4)}"
    return world.user(name, email=new_email(), email_verified=True)


def attempt(world, identifier, password="wrong", ip="192.0.2.1"):
    body = {"identifier": identifier, "password": password}
    return world.post(SIGN_IN, json=body, headers={"X-Forwarded-For": ip})


def lock(world, *identifiers, ip="192.0.2.1"):
    for identifier in identifiers:
        for _ in range(FAILURES):
            assert "Retry-After" not in attempt(world, identifier, ip=ip).headers
        assert is_locked(world, identifier, ip=ip)


def is_locked(world, identifier, ip="192.0.2.1"):
    return "Retry-After" in attempt(world, identifier, PASSWORD, ip).headers


def unlocks_of(admin):
    return [entry["payload"] for entry in result_of(admin.get("/logs", key="User.Unlock"))["data"]]


class TestUnlock:
    def test_ends_the_locks_of_every_identifier_and_network(self, world, admin, ada):
        lock(world, ada.username, ada.email)
        lock(world, ada.username, ip="2001:db8::1")
        lock(world, "somebody else")

        assert result_of(admin.delete(f"/users/{ada.pk}/locks")) is None

        for ip in ("192.0.2.1", "2001:db8::1"):
            assert attempt(world, ada.username, PASSWORD, ip).status_code == 200
        assert attempt(world, ada.email, PASSWORD).status_code == 200
        assert is_locked(world, "somebody else")

    def test_forgets_failures_that_have_not_locked_yet(self, world, admin, ada):
        for _ in range(FAILURES - 1):
            attempt(world, ada.username)

        result_of(admin.delete(f"/users/{ada.pk}/locks"))

        for _ in range(FAILURES):
            assert "Retry-After" not in attempt(world, ada.username).headers
        with world.active():
            assert Counter.objects.filter(kind="pair").get().count == FAILURES

    def test_can_be_repeated_and_is_recorded_each_time(self, admin, ada):
        for _ in range(2):
            assert result_of(admin.delete(f"/users/{ada.pk}/locks")) is None

        recorded = unlocks_of(admin)

        assert [entry["id"] for entry in recorded] == [str(ada.pk)] * 2
        assert all(isinstance(entry["administrator_id"], int) for entry in recorded)

    def test_a_user_of_another_tenant_does_not_exist(self, world, admin, ada, rival):
        lock(world, ada.username)

        for path in (f"/users/{ada.pk}/locks", f"/users/{ids.new()}/locks", "/users/x/locks"):
            assert refusal_of(admin.at(rival).delete(path), 404) == "user not found"

        assert is_locked(world, ada.username)

    @pytest.mark.parametrize(("role", "status"), [("support", 303), ("auditor", 403)])
    def test_support_unlocks_on_the_site_and_auditors_do_not(self, world, ada, role, status):
        lock(world, ada.username)
        operator = at(world, administrator(role=role, tenants=[world.tenant.slug]))

        answer = operate(operator, "users/user", ada, "unlock")

        assert answer.status_code == status
        assert is_locked(world, ada.username) == (role == "auditor")
        if role == "support":
            assert "The locks after wrong passwords have ended." in text_of(
                operator.get(answer.headers["Location"])
            )

    def test_ends_the_lock_of_the_account_page_too(self, world, admin, ada):
        browser = world.browser()
        browser.sign_in(ada)
        for _ in range(FAILURES + 1):
            last = send(browser, "password", password="wrong", new_password=NEW)
        assert "Retry-After" in last.headers

        result_of(admin.delete(f"/users/{ada.pk}/locks"))

        assert send(browser, "password", password=PASSWORD, new_password=NEW).status_code == 303


class TestNewPassword:
    def test_of_an_administrator_ends_the_locks(self, world, admin, ada):
        lock(world, ada.username, ada.email)

        result_of(admin.patch(f"/users/{ada.pk}/password", password=NEW))

        assert attempt(world, ada.username, NEW).status_code == 200
        assert attempt(world, ada.email, NEW).status_code == 200

    def test_after_a_code_ends_the_locks(self, world, ada):
        browser = world.browser()
        lock(world, ada.username, ada.email)
        codes.proven(browser, ada.email, "forgot_password")

        answer = browser.post(codes.RESET, json={"identifier": ada.email, "new_password": NEW})

        assert answer.status_code == 200, answer.text
        assert attempt(world, ada.username, NEW).status_code == 200
        assert attempt(world, ada.email, NEW).status_code == 200

    def test_that_is_refused_ends_no_lock(self, world, admin, ada):
        lock(world, ada.username)

        refusal_of(admin.patch(f"/users/{ada.pk}/password", password="short"), 400)

        assert is_locked(world, ada.username)


def test_without_an_answer_of_redis_the_locks_stay_and_that_is_said(acme, monkeypatch, settings):
    settings.CACHE_URL = "redis://localhost"
    monkeypatch.setattr(in_redis, "clear", lambda _: False)
    user = acme.user()

    with acme.active(), pytest.raises(sign_in_locks.LocksRemain):
        sign_in_locks.end(user)

    with acme.active():
        assert not Entry.objects.filter(key="User.Unlock", tenant_id=acme.tenant.pk).exists()

"""AV15: any client filled the audit log, which nobody can delete from, and the table of parked requests."""

import secrets
from typing import Any

import httpx
import pytest

from audit.models import Entry
from identity.limits.models import Counter
from oidc.grants.models import AuthorizationRequest
from tests.support.cast import RelyingParty, World
from tests.support.threads import at_once

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"
FAILURES, RECORDED, PARKED, PARKED_KNOWN = 100, 20, 12, 16
SERVER = {
    "LIMIT_ADDRESS_TOKEN_FAILURES": str(FAILURES),  # as in production
    "LIMIT_ADDRESS_NEW_PARKED_REQUESTS": str(PARKED),
    "LIMIT_ADDRESS_PARKED_REQUESTS": str(PARKED_KNOWN),
}


def post(world: World, path: str, form: dict[str, str], ip: str = HERE, **options: Any) -> httpx.Response:
    return world.post(path, data=form, headers={"X-Forwarded-For": ip}, **options)


def invent_client(world: World, ip: str = HERE) -> httpx.Response:
    """What the attacker sent: another client id each time."""
    form = {"grant_type": "authorization_code", "client_id": secrets.token_hex(12), "code": "y"}
    return post(world, "/oidc/token", form | {"client_secret": "x"}, ip)


def guess_code(client: RelyingParty, world: World, ip: str = HERE) -> httpx.Response:
    form = {"grant_type": "authorization_code", "client_id": client.client_id, "code": "y"}
    return post(world, "/oidc/token", form | {"code_verifier": "v" * 43, "redirect_uri": "https://x/"}, ip)


def entries(world: World) -> Any:
    return Entry.objects.filter(
        tenant_id=world.tenant.pk, key__in=["Token.Exchange", "Token.Refresh", "Token.Revoke"]
    ).order_by("created_at")


def is_refused(answer: httpx.Response) -> bool:
    return answer.status_code == 429 and 500 < int(answer.headers["Retry-After"]) <= 601


class TestFailures:
    def test_attack_AV15_invented_clients_leave_twenty_entries_and_one_a_minute(self, world):
        answers = [invent_client(world) for _ in range(FAILURES + 20)]

        assert [answer.status_code for answer in answers] == [401] * FAILURES + [429] * 20
        assert all(is_refused(answer) for answer in answers[FAILURES:])
        # The run may take more than a minute on a busy machine, hardly more than two.
        counts = [entry.payload.get("count") for entry in entries(world)]
        assert counts[: RECORDED + 1] == [None] * RECORDED + [RECORDED + 1]
        assert len(counts) <= RECORDED + 3

    def test_decision_N11_the_entry_of_the_next_minute_says_how_many_there_were(self, world):
        for _ in range(RECORDED + 5):
            invent_client(world)
        with world.active():
            Counter.objects.filter(kind="failure summaries").delete()
        invent_client(world)

        assert [entry.payload.get("count") for entry in entries(world)][RECORDED:] == [21, 26]

    def test_attack_AV15_a_public_client_with_wrong_codes(self, world):
        client = world.application("SPA")
        answers = [guess_code(client, world) for _ in range(FAILURES + 1)]

        assert [answer.status_code for answer in answers] == [400] * FAILURES + [429]
        assert is_refused(answers[-1])
        assert entries(world).count() <= RECORDED + 3

    def test_attack_AV15_token_and_revocation_count_together_and_at_once(self, world):
        def one(index: int) -> int:
            if index % 2:
                return invent_client(world).status_code
            form = {"client_id": secrets.token_hex(12), "client_secret": "x", "token": "y"}
            return post(world, "/oidc/revoke", form).status_code

        statuses = at_once(FAILURES + 10, one)

        assert sorted(statuses) == [401] * FAILURES + [429] * 10
        assert sum("count" not in entry.payload for entry in entries(world)) == RECORDED

    def test_decision_N11_valid_client_authentication_is_never_refused(self, world):
        robot, site = world.application("MachineToMachine"), world.application()
        for _ in range(FAILURES + 1):
            invent_client(world)

        asked = post(
            world, "/oidc/token", {"grant_type": "client_credentials"}, auth=(robot.client_id, robot.secret)
        )
        revoked = post(world, "/oidc/revoke", {"token": "x"}, auth=(robot.client_id, robot.secret))
        wrong_code = {"grant_type": "authorization_code", "code": "y", "redirect_uri": "https://x/"}
        failed = [
            post(world, "/oidc/token", wrong_code, auth=(site.client_id, site.secret)) for _ in range(3)
        ]

        assert (asked.status_code, revoked.status_code) == (200, 200)
        assert [answer.status_code for answer in failed] == [400] * 3
        # Its failures are its own: each is recorded.
        assert entries(world).filter(application_id=str(site.application.pk)).count() == 3

    def test_decision_N11_beyond_the_limit_only_failures_are_refused(self, acme, world):
        spa, user = acme.application("SPA"), acme.user()
        code = acme.browser().code_for(spa, user)
        for _ in range(FAILURES + 1):
            invent_client(world)

        form = {
            "grant_type": "authorization_code",
            "client_id": spa.client_id,
            "code": code,
            "redirect_uri": "https://rp.example/callback",
            "code_verifier": spa.verifier,
        }
        assert post(world, "/oidc/token", form).status_code == 200
        assert is_refused(post(world, "/oidc/token", form))

    def test_another_address_is_answered_as_before(self, world):
        for _ in range(FAILURES + 1):
            invent_client(world)

        assert invent_client(world, ELSEWHERE).status_code == 401


class TestParkedRequests:
    @pytest.fixture
    def client(self, world: World) -> RelyingParty:
        return world.application()

    def park(self, world: World, client: RelyingParty, ip: str = HERE, **options: Any) -> httpx.Response:
        headers = {"X-Forwarded-For": ip} | options.pop("headers", {})
        return world.get("/oidc/authorize", params=client.request(**options), headers=headers)

    def rows(self, world: World) -> int:
        with world.active():
            return AuthorizationRequest.objects.count()

    def test_attack_AV15_a_good_client_without_a_cookie(self, world, client):
        answers = [self.park(world, client) for _ in range(PARKED + 5)]

        assert [answer.status_code for answer in answers] == [303] * PARKED + [429] * 5
        assert is_refused(answers[-1])
        assert "Too many requests from your network" in answers[-1].text
        assert self.rows(world) == PARKED
        assert self.park(world, client, ELSEWHERE).status_code == 303

    def test_attack_AV15_all_at_once(self, world, client):
        statuses = at_once(PARKED + 8, lambda _: self.park(world, client).status_code)

        assert sorted(statuses) == [303] * PARKED + [429] * 8
        assert self.rows(world) == PARKED

    def test_attack_AV15_with_a_made_up_cookie_each_time(self, world, client):
        name = f"gatehouse-browser.{world.tenant.slug}"

        def park() -> int:
            cookie = {"Cookie": f"{name}={secrets.token_urlsafe(32)}"}
            return self.park(world, client, headers=cookie).status_code

        assert [park() for _ in range(PARKED_KNOWN + 2)] == [303] * PARKED_KNOWN + [429] * 2

    def test_decision_N11_a_browser_that_is_known_does_not_count_as_new(self, world, client):
        browser = world.browser()
        first = browser.get("/oidc/authorize", params=client.request(), headers={"X-Forwarded-For": HERE})
        for _ in range(PARKED):
            self.park(world, client)

        again = browser.get("/oidc/authorize", params=client.request(), headers={"X-Forwarded-For": HERE})

        assert (first.status_code, again.status_code) == (303, 303)
        assert self.park(world, client).status_code == 429

    def test_a_silent_request_parks_nothing_and_is_not_counted(self, world, client):
        for _ in range(PARKED + 3):
            answer = self.park(world, client, prompt="none")

        assert "login_required" in answer.headers["Location"]
        assert self.rows(world) == 0

    def test_attack_AV15_a_row_holds_what_counts_and_no_more(self, world, client):
        """Unknown parameters, and three bytes for one, made rows of 16 KiB."""
        state = "a/ü+&=%" * 40
        plain = client.request(state=state)
        long_way = "&".join(
            f"{name}={''.join(f'%{byte:02X}' for byte in str(value).encode())}"
            for name, value in plain.items()
        )
        world.get(f"/oidc/authorize?{long_way}&padding={'x' * 3_000}", headers={"X-Forwarded-For": HERE})

        with world.active():
            stored = AuthorizationRequest.objects.get().query
        assert httpx.QueryParams(stored)["state"] == state
        assert set(httpx.QueryParams(stored)) == set(plain)
        assert len(stored) < len(long_way) * 3 / 4

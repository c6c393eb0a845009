"""AV11: a proxy that writes the port beside the address gave every connection an address of its own."""

from typing import Any

import httpx
import pytest

from audit.models import Entry
from tests.support.cast import PASSWORD, World

SIGN_IN = "/api/interaction/sign-in"
SERVER = {"LIMIT_ADDRESS_SIGN_INS": "5", "LOCK_PAIR_FAILURES": "3"}


def attempt(world: World, forwarded: str, identifier: str, password: str = "wrong") -> httpx.Response:
    return world.post(
        SIGN_IN,
        json={"identifier": identifier, "password": password},
        headers={"X-Forwarded-For": forwarded},
    )


def statuses(world: World, spellings: list[str]) -> list[int]:
    return [
        attempt(world, spelling, f"person-{number}").status_code for number, spelling in enumerate(spellings)
    ]


class TestAPortForEachConnection:
    @pytest.mark.parametrize("spelling", ["8.8.8.8:{}", "[2001:db8:7::{}]:4711", "[2001:db8:7::1]:{}"])
    def test_attack_AV11_the_limit_by_address_counts_all_of_them(self, world, spelling):
        assert statuses(world, [spelling.format(1000 + n) for n in range(6)]) == [401] * 5 + [429]

    def test_attack_AV11_with_and_without_a_port_is_one_address(self, world):
        spellings = ["9.9.9.9", "9.9.9.9:1", "9.9.9.9:65535", "6.6.6.6:1, 9.9.9.9:80", "9.9.9.9", "9.9.9.9:2"]

        assert statuses(world, spellings) == [401] * 5 + [429]

    def test_attack_AV11_the_pair_lock_holds(self, world):
        world.user("ada")
        for port in range(3):
            attempt(world, f"7.7.7.7:{1000 + port}", "ada")

        locked = attempt(world, "7.7.7.7:2000", "ada", PASSWORD)

        assert (locked.status_code, "Retry-After" in locked.headers) == (401, True)

    @pytest.mark.parametrize(
        "hop",
        [
            *(
                "host-{}",
                "8.8.8.8:{}x",
                "fe80::1%{}",
                "8.8.8.8/{}",
                "[2001:db8::1]:{}:",
                "[2001:db8::1%{}]:1",
            ),
            *("2001:db8::1:{}x", "8.8.8.8:1:{}", "[8.8.8.8]:{}", "[2001:db8:8::{}]"),
        ],
    )
    def test_decision_N11_anything_else_counts_as_the_proxy(self, world, hop):
        """Hops of the client's own before it are not believed either."""
        hops = [f"203.0.113.{n}, {hop.format(n)}" for n in range(6)]

        assert statuses(world, hops) == [401] * 5 + [429]

    def test_decision_N11_the_audit_log_shows_the_address_without_the_port(self, world):
        shown: dict[str, Any] = {}
        for forwarded in ("192.0.2.1:4711", "[2001:DB8::7]:443", "2001:db8::8", "nonsense"):
            answer = attempt(world, forwarded, "x")
            entry = Entry.objects.of_request(answer.headers["X-Request-Id"]).get(key="SignIn.Password")
            shown[forwarded] = entry.ip

        assert list(shown.values()) == ["192.0.2.1", "2001:db8::7", "2001:db8::8", "127.0.0.1"]

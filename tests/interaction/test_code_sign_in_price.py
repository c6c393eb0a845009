"""What a sign-in by code costs in statements, exactly: reads, then writes."""

from typing import Any

import pytest

from tests.support import codes
from tests.support.cast import PASSWORD, World
from tests.support.statement_costs import Inside, chained, cost


@pytest.fixture
def world(acme: World) -> World:
    return codes.reachable(acme)


def price(world: World, to: str, *, number: int, by_page: bool = False) -> tuple[int, int]:
    """Have a code sent to a new browser, and return what it costs to enter it."""
    codes.let_time_pass(world)
    browser, inside = world.browser(), Inside(world)
    code = codes.sent(browser, to, number=number)
    inside.http.cookies.load({cookie.name: cookie.value for cookie in browser.http.cookies.jar})
    inside.get("/.well-known/openid-configuration")  # the worker knows the tenant from now on

    def entered() -> Any:
        if by_page:
            return inside.post("/sign-in/code", {"identifier": to, "code": code})
        return inside.send(codes.VERIFY, codes.about(to, code=code))

    return cost(entered, 303 if by_page else 200)


@pytest.mark.parametrize("new_address", [codes.new_email, codes.new_phone], ids=["email", "phone"])
def test_the_first_verifies_the_address_and_each_later_one_costs_less(world, new_address):
    to = new_address()
    world.user(**{"email" if "@" in to else "phone": to})

    first, again = price(world, to, number=1), price(world, to, number=2)
    by_page = price(world, to, number=3, by_page=True)

    assert first == (6, 9)
    assert again == (4, 8)
    # The page asks besides which ways to sign in are on, and which connectors could send a code.
    assert by_page == (6, 8)


def test_the_first_proof_of_an_account_that_nobody_owned_pays_for_what_it_ends(world):
    to = codes.new_email()
    codes.experience(world, sign_up={"identifiers": ["email"], "password": True, "verify": False})
    registered = world.browser().post(codes.REGISTER, json={"email": to, "password": PASSWORD})

    first, again = price(world, to, number=1), price(world, to, number=2)

    assert registered.status_code == 200
    assert first == (9, 15 + chained(4))
    assert again == (4, 8)

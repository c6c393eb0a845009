"""AV13: a lock of the identifier for everybody kept its owner out, too, at the browser used every day."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from identity.limits.models import Counter
from tests.support import codes
from tests.support.cast import PASSWORD, Browser, World
from tests.support.codes import new_email
from tests.support.forms import form

OWNER = "198.51.100.1"
PAIR, IDENTIFIER, KNOWN = 4, 6, 5
SERVER = {
    "LOCK_PAIR_FAILURES": str(PAIR),
    "LOCK_IDENTIFIER_FAILURES": str(IDENTIFIER),
    "LOCK_KNOWN_BROWSER_FAILURES": str(KNOWN),
}


def attempt(browser: Browser, identifier: str, password: str = "wrong", ip: str = OWNER) -> httpx.Response:
    return browser.post(
        "/api/interaction/sign-in",
        json={"identifier": identifier, "password": password},
        headers={"X-Forwarded-For": ip},
    )


def lock(world: World, *identifiers: str) -> None:
    """Fail from many addresses until an identifier is locked for all."""
    for identifier in identifiers:
        for number in range(IDENTIFIER):
            attempt(world.browser(), identifier, ip=f"203.0.113.{number}")
        assert is_locked(attempt(world.browser(), identifier, PASSWORD, ip="203.0.113.99"))


def is_locked(answer: httpx.Response) -> bool:
    return answer.status_code == 401 and "Retry-After" in answer.headers


def cookie(world: World) -> str:
    return f"gatehouse-known.{world.tenant.slug}"


def known_browser(world: World, identifier: str, password: str = PASSWORD) -> Browser:
    browser = world.browser()
    assert attempt(browser, identifier, password).status_code == 200
    return browser


def carry(world: World, value: str) -> Browser:
    """A browser that has nothing but this cookie."""
    browser = world.browser()
    browser.http.cookies.set(cookie(world), value)
    return browser


def test_attack_AV13_a_browser_that_signed_the_person_in_before_passes(world):
    to = new_email()
    world.user("ada", email=to)
    browser = known_browser(world, "ada")
    lock(world, "ada", to)

    assert attempt(browser, "ada", PASSWORD).status_code == 200
    assert attempt(browser, to, PASSWORD).status_code == 200, "by any identifier of the person"


def test_attack_AV13_signed_in_by_a_code_before(world):
    to, browser = new_email(), world.browser()
    world.user("ada", email=to)
    code = codes.sent(browser, to)
    assert codes.enter(browser, to, code).status_code == 200
    lock(world, "ada")

    assert attempt(browser, "ada", PASSWORD).status_code == 200


def test_attack_AV13_by_the_page(world):
    world.user("ada")
    browser = known_browser(world, "ada")
    lock(world, "ada")
    fields = form(browser.get("/sign-in")).fields | {"identifier": "ada", "password": PASSWORD}

    answer = browser.post("/sign-in", data=fields, headers={"X-Forwarded-For": OWNER})

    assert answer.status_code == 303


def test_decision_N11_it_has_failures_of_its_own(world):
    """A thief of such a browser, or of its cookie, has only a few guesses."""
    world.user("ada")
    browser = known_browser(world, "ada")
    lock(world, "ada")
    for number in range(KNOWN):
        assert not is_locked(attempt(browser, "ada", ip=f"192.0.2.{number}"))

    assert is_locked(attempt(browser, "ada", PASSWORD, ip="192.0.2.99"))
    copy = carry(world, browser.http.cookies[cookie(world)])
    assert is_locked(attempt(copy, "ada", PASSWORD, ip="192.0.2.98"))


def test_decision_N11_the_lock_of_the_pair_holds_for_it(world):
    world.user("ada")
    browser = known_browser(world, "ada")
    for _ in range(PAIR):
        attempt(browser, "ada")

    assert is_locked(attempt(browser, "ada", PASSWORD))


def test_decision_N11_it_is_of_one_person(world):
    world.user("ada")
    world.user("bob")
    browser = known_browser(world, "bob")
    lock(world, "ada")

    assert is_locked(attempt(browser, "ada", PASSWORD))


def test_decision_N11_several_people_share_a_browser_and_the_cookie_stays_small(world):
    names = [f"person-{number}" for number in range(7)]
    for name in names:
        world.user(name, email=new_email())
    browser = world.browser()
    for name in names:
        assert attempt(browser, name, PASSWORD).status_code == 200
    lock(world, names[0], names[-1], names[3])

    assert len(browser.http.cookies[cookie(world)]) < 800
    assert attempt(browser, names[-1], PASSWORD).status_code == 200
    assert attempt(browser, names[3], PASSWORD).status_code == 200
    assert is_locked(attempt(browser, names[0], PASSWORD)), "only the last five"


def test_decision_N11_it_is_of_one_tenant(guarded, world, rival):
    other = replace(rival, address=f"{guarded}/t/{rival.tenant.slug}")
    for each in (world, other):
        each.user("ada")
    value = known_browser(other, "ada").http.cookies[cookie(other)]
    lock(world, "ada")

    assert is_locked(attempt(carry(world, value), "ada", PASSWORD))


def test_decision_N11_a_password_recovery_ends_it(world):
    to = new_email()
    world.user("ada", email=to)
    thief, owner = known_browser(world, "ada"), world.browser()
    codes.proven(owner, to, "forgot_password")
    reset = owner.post(codes.RESET, json={"identifier": to, "new_password": "another good one 7"})
    assert reset.status_code == 200
    lock(world, "ada")

    assert is_locked(attempt(thief, "ada", "another good one 7"))


def test_decision_N11_after_a_recovery_its_wrong_guesses_count_for_everybody(world):
    to = new_email()
    user = world.user("ada", email=to)
    thief = known_browser(world, "ada")
    with world.active():
        type(user).objects.filter(pk=user.pk).update(epoch=user.epoch + 1)
    for number in range(KNOWN - 1):
        attempt(thief, "ada", ip=f"192.0.2.{number}")

    with world.active():
        assert Counter.objects.get(kind="identifier").count == KNOWN - 1


def test_the_browser_of_the_recovered_account_is_known_again(world):
    to = new_email()
    world.user("ada", email=to)
    owner = known_browser(world, "ada")
    codes.proven(owner, to, "forgot_password")
    owner.post(codes.RESET, json={"identifier": to, "new_password": "another good one 7"})
    assert attempt(owner, "ada", "another good one 7").status_code == 200
    lock(world, "ada")

    assert attempt(owner, "ada", "another good one 7").status_code == 200


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "x",
            "~~~~",
            "....",
            ".a.b.c",
            "k.a.b.c",
            "\xe9.a.b.c",
            "a" * 5_000,
            "~".join(["k.a.b.c"] * 100),
        ),
        "nosuchkey.AAAAAAAAAAAA.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAA",
    ],
)
def test_decision_N11_what_nobody_signed_is_nothing(world, value):
    world.user("ada")
    headers: Any = {"Cookie": f"{cookie(world)}={value}".encode("latin-1"), "X-Forwarded-For": OWNER}

    answer = world.post(
        "/api/interaction/sign-in", json={"identifier": "ada", "password": PASSWORD}, headers=headers
    )

    assert answer.status_code == 200


def test_every_byte_of_a_mark_is_signed(world):
    world.user("ada")
    value = known_browser(world, "ada").http.cookies[cookie(world)]
    lock(world, "ada")
    key, *parts = value.split(".")
    for number, part in enumerate(parts):
        other = [*parts]
        other[number] = ("B" if part[0] == "A" else "A") + part[1:]
        assert is_locked(attempt(carry(world, ".".join([key, *other])), "ada", PASSWORD)), number
    assert attempt(carry(world, value), "ada", PASSWORD).status_code == 200


def test_the_cookie_is_for_this_host_and_no_script(world):
    world.user("ada")
    headers = attempt(world.browser(), "ada", PASSWORD).headers.get_list("Set-Cookie")

    [known] = [header for header in headers if header.startswith(cookie(world))]
    assert all(word in known for word in ("HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=34560000"))
    assert "ada" not in known

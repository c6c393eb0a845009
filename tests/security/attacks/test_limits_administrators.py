"""AP06: the most valuable accounts could be guessed at from as many addresses as somebody has."""

import secrets
from collections.abc import Callable, Iterator

import httpx
import pytest

from identity.core import tenancy
from identity.limits.models import Counter
from management.administrators import services as administrators
from tests.support.cast import PASSWORD
from tests.support.forms import form

PAIR, ANYWHERE, ADDRESS = 10, 20, 25
SERVER = {
    "LOCK_PAIR_FAILURES": str(PAIR),
    "LOCK_IDENTIFIER_FAILURES": str(ANYWHERE),
    "LIMIT_ADDRESS_SIGN_INS": str(ADDRESS),
}


@pytest.fixture(autouse=True)
def _nothing_was_counted(database: None) -> Iterator[None]:
    """Administrators are counted in the default tenant, which all tests share."""
    yield
    with tenancy.using(tenancy.DEFAULT):
        Counter.objects.all().delete()


@pytest.fixture
def administrator(database: None) -> str:
    name = f"root-{secrets.token_hex(4)}"
    with tenancy.using(tenancy.EVERYWHERE):
        administrators.create(username=name, password=PASSWORD)
    return name


def by_api(server: str, name: str, password: str, ip: str) -> httpx.Response:
    body = {"username": name, "password": password}
    return httpx.post(f"{server}/api/admin/sign-in", json=body, headers={"X-Forwarded-For": ip})


def by_page(server: str, name: str, password: str, ip: str) -> httpx.Response:
    headers = {"X-Forwarded-For": ip}
    with httpx.Client(base_url=server, headers=headers) as browser:
        fields = form(browser.get("/admin/login/")).fields
        return browser.post("/admin/login/", data=fields | {"username": name, "password": password})


DOORS = pytest.mark.parametrize("door", [by_api, by_page])
Door = Callable[[str, str, str, str], httpx.Response]


def guess_from_everywhere(door: Door, server: str, name: str) -> None:
    """Nine wrong passwords from each address never lock the pair."""
    for number in range(ANYWHERE):
        answer = door(server, name, "wrong", f"203.0.113.{number // 9}")
        assert (answer.status_code, "Retry-After" in answer.headers) == (401, False), number


def is_locked(answer: httpx.Response) -> bool:
    return answer.status_code == 401 and "Retry-After" in answer.headers


@DOORS
def test_attack_AP06_nine_guesses_from_each_of_many_addresses(guarded, administrator, door):
    guess_from_everywhere(door, guarded, administrator)

    assert is_locked(door(guarded, administrator, PASSWORD, "198.51.100.77"))


@DOORS
def test_attack_AP06_a_name_that_nobody_has_is_locked_likewise(guarded, door):
    name = f"nobody-{secrets.token_hex(4)}"
    guess_from_everywhere(door, guarded, name)

    assert is_locked(door(guarded, name, PASSWORD, "198.51.100.77"))


@DOORS
def test_attack_AP06_one_password_for_many_administrators_from_one_address(guarded, door):
    names = [f"somebody-{secrets.token_hex(4)}" for _ in range(ADDRESS + 2)]

    answers = [door(guarded, name, "Summer2026!", "203.0.113.1") for name in names]

    assert [answer.status_code for answer in answers] == [401] * ADDRESS + [429] * 2
    assert 500 < int(answers[-1].headers["Retry-After"]) <= 601
    assert door(guarded, names[0], "Summer2026!", "203.0.113.2").status_code == 401


@DOORS
def test_decision_N11_nobody_locks_an_administrator_out_from_outside(guarded, administrator, door):
    """The address of a recent good sign-in passes the lock for all addresses, not that of the pair."""
    home, right = "198.51.100.5", {by_api: 200, by_page: 303}[door]
    assert door(guarded, administrator, PASSWORD, home).status_code == right
    guess_from_everywhere(door, guarded, administrator)

    assert is_locked(door(guarded, administrator, PASSWORD, "198.51.100.77"))
    assert door(guarded, administrator, PASSWORD, home).status_code == right
    for _ in range(PAIR):
        door(guarded, administrator, "wrong", home)
    assert is_locked(door(guarded, administrator, PASSWORD, home))


def test_decision_N11_both_doors_count_together(guarded, administrator):
    for number in range(ANYWHERE):
        door = (by_api, by_page)[number % 2]
        door(guarded, administrator, "wrong", f"203.0.113.{number}")

    assert is_locked(by_api(guarded, administrator, PASSWORD, "198.51.100.77"))
    assert is_locked(by_page(guarded, administrator, PASSWORD, "198.51.100.77"))

"""Whether an answer takes another time for somebody who is known: every way in, every form of hash (N12).

No time is compared with a constant. Answers for known and unknown identifiers are measured in turn, and
their ranks compared. A machine that does something else meanwhile disturbs both alike; a round that
deviates is repeated, and only a deviation of the same sign in each round counts.
"""

import base64
import hashlib
import os
import secrets
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Final

import bcrypt
import httpx
import pytest
from argon2 import PasswordHasher

from identity.users import dummy_hashes, imported_hashes
from identity.users.models import User
from tests.support import codes, second
from tests.support.cast import PASSWORD, World
from tests.support.ranks import deviation

pytestmark = pytest.mark.skipif(
    "GATEHOUSE_THOROUGH" not in os.environ, reason="a part of the thorough run (GATEHOUSE_THOROUGH=1)"
)

WITHOUT_TLS: Final = ssl.create_default_context()  # made once: it takes longer than a request
SIZE: Final = 20  # of each, in a round
ROUNDS: Final = 4
FAR: Final = 3.3  # standard deviations: once in a thousand rounds, in four of them never
SALT: Final = b"0123456789abcdef"
Ask = Callable[[httpx.Client, World, str], httpx.Response]


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")


FORMS: Final = {
    "ours": "",
    "bcrypt": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(11)).decode(),
    "pbkdf2": f"$pbkdf2-sha256$1000${_text(SALT)}${_text(hashlib.pbkdf2_hmac('sha256', b'x', SALT, 1000))}",
    "pbkdf2 of many rounds": f"$pbkdf2-sha512$210000${_text(SALT)}${_text(bytes(64))}",
    "scrypt": f"$scrypt$ln=15,r=8,p=1${_text(SALT)}${_text(bytes(32))}",
    "argon2": PasswordHasher(time_cost=3, memory_cost=65_536, parallelism=4).hash(PASSWORD),
}


@pytest.fixture(scope="module")
def unlimited(address: str) -> Iterator[str]:
    """A server whose limits nobody reaches here."""
    many = ("ADDRESS_SIGN_INS", "ADDRESS_CODE_SENDS", "ADDRESS_REGISTRATIONS", "CLIENT_FAILURES")
    limits = {f"LIMIT_{name}": "1000000" for name in many}
    with second.running(**limits) as place:
        yield place


def identifier_of(user: User, kind: str) -> str:
    return str(getattr(user, kind))


def unknown(kind: str) -> str:
    return {"username": f"u-{secrets.token_hex(4)}", "email": codes.new_email(), "phone": codes.new_phone()}[
        kind
    ]


def people(world: World, number: int, stored: str = "") -> list[User]:
    """Users with all identifiers, proven ones, whose hash has a form."""
    made = [world.user(email=codes.new_email(), phone=codes.new_phone()) for _ in range(number)]
    with world.active():
        users = User.objects.filter(pk__in=[user.pk for user in made])
        users.update(email_verified=True, phone_verified=True)
        if stored:
            users.update(password=imported_hashes.normalize(stored, imported_hashes.IMPORT_BOUNDS))
            dummy_hashes.recount()
    return made


def seconds(ask: Ask, world: World, identifier: str) -> tuple[float, tuple[int, str]]:
    with httpx.Client(timeout=60, verify=WITHOUT_TLS) as http:
        before = http.get(
            f"{world.address}/.well-known/jwks.json"
        )  # a connection, and a tenant that is known
        assert before.status_code == 200
        began = time.perf_counter()
        answer = ask(http, world, identifier)
        return time.perf_counter() - began, (answer.status_code, answer.text)


def assert_alike(ask: Ask, world: World, kind: str, stored: str = "") -> None:
    """Compare rounds until one shows no difference."""
    found = []
    for _ in range(ROUNDS):
        known, strangers = [], []
        for user in people(world, SIZE, stored):
            took, said = seconds(ask, world, identifier_of(user, kind))
            waited, told = seconds(ask, world, unknown(kind))
            assert said == told
            known.append(took)
            strangers.append(waited)
        found.append(deviation(known, strangers))
        if abs(found[-1]) < FAR or found[0] * found[-1] < 0:
            return
    pytest.fail(f"known people are told by the time: {found} standard deviations")


def wrong_password(http: httpx.Client, world: World, identifier: str) -> httpx.Response:
    body = {"identifier": identifier, "password": "wrong password"}
    return http.post(f"{world.address}/api/interaction/sign-in", json=body)


def _kind(identifier: str) -> str:
    return "email" if "@" in identifier else "phone"


def sending(purpose: str) -> Ask:
    def ask(http: httpx.Client, world: World, identifier: str) -> httpx.Response:
        body = {"identifier": identifier, "identifier_type": _kind(identifier), "interaction_type": purpose}
        return http.post(f"{world.address}{codes.SEND}", json=body)

    return ask


def entering(purpose: str) -> Ask:
    def ask(http: httpx.Client, world: World, identifier: str) -> httpx.Response:
        body = {"identifier": identifier, "identifier_type": _kind(identifier), "interaction_type": purpose}
        body["code"] = "000000"
        return http.post(f"{world.address}{codes.VERIFY}", json=body)

    return ask


def recovering(http: httpx.Client, world: World, identifier: str) -> httpx.Response:
    body = {"identifier": identifier, "new_password": "another good password"}
    return http.post(f"{world.address}{codes.RESET}", json=body)


@pytest.mark.parametrize("kind", ["username", "email", "phone"])
@pytest.mark.parametrize("form", FORMS)
def test_attack_AV12_a_wrong_password(unlimited: str, acme: World, form: str, kind: str) -> None:
    if kind != "username" and form not in {"ours", "bcrypt"}:
        pytest.skip("a kind of identifier is looked up before its form of hash: two forms of it will do")

    assert_alike(wrong_password, acme.at(unlimited), kind, FORMS[form])


@pytest.mark.parametrize("kind", ["email", "phone"])
@pytest.mark.parametrize("purpose", ["sign_in", "forgot_password", "register"])
@pytest.mark.parametrize("step", [sending, entering])
def test_decision_X3_a_code(
    unlimited: str, acme: World, step: Callable[[str], Ask], purpose: str, kind: str
) -> None:
    assert_alike(step(purpose), codes.reachable(acme).at(unlimited), kind)


@pytest.mark.parametrize("kind", ["email", "phone"])
def test_decision_X3_a_new_password_without_a_proof(unlimited: str, acme: World, kind: str) -> None:
    assert_alike(recovering, codes.reachable(acme).at(unlimited), kind)


def test_decision_O6_a_wrong_secret_of_a_machine(unlimited: str, acme: World) -> None:
    """Client ids are no secrets, and yet their answers are alike."""
    world = acme.at(unlimited)
    clients = [acme.application("MachineToMachine").client_id for _ in range(SIZE)]
    found = []
    for _ in range(ROUNDS):
        known: list[float] = []
        strangers: list[float] = []
        for client_id in clients:
            for into, name in ((known, client_id), (strangers, secrets.token_hex(12))):
                began = time.perf_counter()
                answer = world.post(
                    "/oidc/token", data={"grant_type": "client_credentials"}, auth=(name, "wrong")
                )
                into.append(time.perf_counter() - began)
                assert answer.status_code == 401
        found.append(deviation(known, strangers))
        if abs(found[-1]) < FAR or found[0] * found[-1] < 0:
            return
    pytest.fail(f"known clients are told by the time: {found} standard deviations")


def test_the_measure_would_find_a_difference(acme: World, unlimited: str) -> None:
    """Without this the tests above could pass because they are blind."""

    def slower_for_known(http: httpx.Client, world: World, identifier: str) -> httpx.Response:
        time.sleep(0.5 if identifier.startswith("u-") and len(identifier) == 10 and known[0] else 0)
        known[0] = not known[0]
        return wrong_password(http, world, identifier)

    known = [True]
    with pytest.raises(pytest.fail.Exception):
        assert_alike(slower_for_known, acme.at(unlimited), "username")

"""Attacks with imported password hashes: they tell who exists, hold others up, or break the sign-in."""

import statistics
import threading
import time
from collections import Counter

import bcrypt
import httpx
import pytest

from identity.core.errors import Invalid
from identity.users import dummy_hashes, hash_formats, imported_hashes, passwords
from identity.users.dummy_hashes import Format
from identity.users.models import User
from tests.support import second
from tests.support.cast import PASSWORD, World
from tests.support.foreign_hashes import FOREIGN
from tests.support.management import refusal_of, superuser
from tests.support.threads import THOROUGH

SIGN_IN = "/api/interaction/sign-in"
SALT = "MDEyMzQ1Njc4OWFiY2RlZg"
CHECKSUM = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
COSTLY = {
    "argon2 memory": f"$argon2id$v=19$m=262144,t=1,p=1${SALT}${CHECKSUM}",
    "argon2 passes": f"$argon2id$v=19$m=8192,t=16,p=1${SALT}${CHECKSUM}",
    "argon2 lanes": f"$argon2id$v=19$m=19456,t=2,p=99${SALT}${CHECKSUM}",
    "bcrypt": bcrypt.hashpw(b"x", bcrypt.gensalt(4)).decode().replace("$04$", "$13$"),
    "pbkdf2-sha512": f"$pbkdf2-sha512$5000000${SALT}${CHECKSUM}",
    "pbkdf2-sha256": f"$pbkdf2-sha256$1000001${SALT}${CHECKSUM}",
    "scrypt memory": f"$scrypt$ln=18,r=8,p=1${SALT}${CHECKSUM}",
    "scrypt lanes": f"$scrypt$ln=14,r=8,p=3${SALT}${CHECKSUM}",
}
UNVERIFIABLE = {
    "bcrypt, a salt": "$2b$12$" + "a" * 53,
    "bcrypt, a checksum": "$2b$12$" + "a" * 21 + "." + "a" * 30 + "b",
    "argon2, memory for its lanes": f"$argon2id$v=19$m=8,t=1,p=4${SALT}${CHECKSUM}",
    "argon2, no passes": f"$argon2id$v=19$m=8192,t=0,p=1${SALT}${CHECKSUM}",
    "argon2, a salt": f"$argon2id$v=19$m=8192,t=1,p=1$MDE${CHECKSUM}",
    "argon2, base64": f"$argon2id$v=19$m=8192,t=1,p=1${SALT}$MDEyMzQ1Njc4OWFiY2Rl9",
    "scrypt, N for its r": f"$scrypt$ln=16,r=1,p=1${SALT}${CHECKSUM}",
    "pbkdf2 of Django, a checksum": "pbkdf2_sha256$1000$salt$MDEyMw==",
}
measures_time = pytest.mark.skipif(not THOROUGH, reason="measures time: only with GATEHOUSE_THOROUGH=1")


def imported(world: World, stored: str, number: int = 1) -> list[User]:
    """Users with this hash, as an import stored them before there were bounds."""
    users = [world.user() for _ in range(number)]
    with world.active():
        User.objects.filter(pk__in=[user.pk for user in users]).update(password=stored)
        dummy_hashes.recount()
    return users


def bcrypt_of(cost: int, password: str = PASSWORD) -> str:
    return "bcrypt$" + bcrypt.hashpw(password.encode(), bcrypt.gensalt(cost)).decode()


def seconds(world: World, identifier: str, status: int = 401) -> float:
    """How long a wrong password takes."""
    began = time.perf_counter()
    answer = world.post(SIGN_IN, json={"identifier": identifier, "password": "wrong password"})
    assert answer.status_code == status
    return time.perf_counter() - began


class TestTime:
    """V12: everybody imported was recognisable by the time of a wrong password."""

    @measures_time
    def test_attack_AV12_an_imported_user_takes_as_long_as_nobody(self, acme):
        [user] = imported(acme, bcrypt_of(12))
        known, unknown = [], []

        for number in range(6):
            known.append(seconds(acme, user.username))
            unknown.append(seconds(acme, f"nobody-{number}"))

        assert 0.5 < min(unknown) / min(known) < 2  # what a loaded machine adds is in neither

    def test_attack_AV12_nobody_has_a_format_in_the_proportions_of_the_tenant(self, acme):
        imported(acme, bcrypt_of(4), 2)
        imported(acme, imported_hashes.normalize(FOREIGN["scrypt"]))
        acme.user()

        with acme.active():
            formats = dummy_hashes.count_formats()
            picked = Counter(
                hash_formats.cost_prefix(dummy_hashes.get_dummy(f"username u{number}") or hash_formats.OURS)
                for number in range(4_000)
            )

        assert {hash_formats.cost_prefix(one.dummy): one.share for one in formats} == {
            "bcrypt$$2b$04$": 0.5,
            "scrypt_bytes$1024$8$1$": 0.25,
        }
        for prefix, share in {"bcrypt$$2b$04$": 0.5, "scrypt_bytes$1024$8$1$": 0.25}.items():
            assert abs(picked[prefix] / 4_000 - share) < 0.04

    def test_decision_N12_a_second_try_meets_the_same_format(self, acme):
        imported(acme, bcrypt_of(4))
        acme.user()

        with acme.active():
            names = [f"username u{number}" for number in range(50)]
            assert [dummy_hashes.get_dummy(name) for name in names] == [
                dummy_hashes.get_dummy(name) for name in names
            ]
            assert {dummy_hashes.get_dummy(name) for name in names} > {""}

    @pytest.mark.parametrize("shares", [(0.9,), (0.5, 0.4)])
    def test_decision_N12_when_people_sign_in_nobody_changes_but_to_our_format(self, shares):
        places = [number / 997 for number in range(997)]
        before = tuple(Format(share, f"format {number}") for number, share in enumerate(shares))
        for sign_ins in (0.01, 0.2, 0.39):
            after = tuple(Format(one.share - sign_ins, one.dummy) for one in before)

            for place in places:
                was, now = dummy_hashes._pick(before, place), dummy_hashes._pick(after, place)
                assert now in {was, ""}

    def test_decision_N12_without_imported_hashes_nothing_changes(self, acme):
        acme.user()
        with acme.active():
            User.objects.filter(pk=acme.user().pk).update(password="")

            assert dummy_hashes.count_formats() == ()
            assert not dummy_hashes.get_dummy("username nobody")

    @pytest.mark.parametrize("kind", FOREIGN)
    def test_a_dummy_is_of_the_same_form_and_of_nobody(self, kind):
        stored = imported_hashes.normalize(FOREIGN[kind], imported_hashes.IMPORT_BOUNDS)

        dummy = hash_formats.new_dummy(stored)

        assert len(dummy) == len(stored)
        assert dummy != stored
        assert hash_formats.cost_prefix(dummy) == hash_formats.cost_prefix(stored)
        assert passwords.verify("correct horse battery", dummy) == (False, None)


class TestCost:
    """P4: hashes that take seconds, put in by a tenant's administrator, held up all tenants."""

    @pytest.mark.parametrize("kind", COSTLY)
    def test_attack_AP04_a_costly_hash_is_refused_by_the_api(self, acme, kind):
        answer = superuser(acme).post("/users", username="costly", password_hash=COSTLY[kind])

        assert "takes too much" in refusal_of(answer, 400)

    @pytest.mark.parametrize("kind", set(COSTLY) - {"argon2 lanes"})
    def test_decision_N12_an_operator_may_import_it(self, kind):
        assert imported_hashes.normalize(COSTLY[kind], imported_hashes.IMPORT_BOUNDS)

    def test_decision_N12_what_is_stored_keeps_working(self, acme):
        [user] = imported(acme, bcrypt_of(13))

        assert acme.browser().sign_in(user).status_code == 200
        with acme.active():
            assert hash_formats.is_ours(User.objects.get(pk=user.pk).password)

    @measures_time
    def test_attack_AP04_sign_ins_of_another_tenant_do_not_wait_for_costly_hashes(self, acme, rival):
        [costly] = imported(acme, bcrypt_of(14))
        ordinary = rival.user()
        with second.running(HASHING_CONCURRENCY="1", HASHING_QUEUE="8") as address:
            here, there = acme.at(address), rival.at(address)
            alone = seconds(here, costly.username)
            is_over = threading.Event()

            def flood() -> None:
                with httpx.Client(timeout=60) as http:
                    while not is_over.is_set():
                        body = {"identifier": costly.username, "password": "wrong password"}
                        http.post(f"{here.address}{SIGN_IN}", json=body)

            crowd = [threading.Thread(target=flood) for _ in range(8)]
            for one in crowd:
                one.start()
            time.sleep(alone)
            try:
                waits = [seconds(there, ordinary.username) for _ in range(5)]
            finally:
                is_over.set()
                for one in crowd:
                    one.join()

        assert statistics.median(waits) < alone


class TestUnverifiable:
    """P11: a hash whose salt is none made the sign-in answer 500, which told that the user exists."""

    @pytest.mark.parametrize("kind", UNVERIFIABLE)
    def test_attack_AP11_what_cannot_be_verified_is_refused(self, acme, kind):
        answer = superuser(acme).post("/users", username="broken", password_hash=UNVERIFIABLE[kind])

        assert refusal_of(answer, 400).startswith("password_hash")
        with pytest.raises(Invalid):
            imported_hashes.normalize(UNVERIFIABLE[kind], imported_hashes.IMPORT_BOUNDS)

    @pytest.mark.parametrize("stored", ["bcrypt$$2b$04$" + "a" * 53, "nothing$known", "scrypt_bytes$x"])
    def test_attack_AP11_what_was_stored_before_is_a_wrong_password(self, acme, stored):
        [user] = imported(acme, stored)

        assert acme.browser().sign_in(user).status_code == 401

    def test_decision_N12_the_log_names_no_hash(self, caplog):
        stored = "bcrypt$$2b$04$" + "a" * 53

        assert passwords.verify(PASSWORD, stored) == (False, None)
        assert "cannot be verified" in caplog.text
        assert stored not in caplog.text

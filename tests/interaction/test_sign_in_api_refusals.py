"""POST /api/interaction/sign-in: who is refused, and what is no request."""

import json
import time

import httpx
import pytest
from django.conf import settings
from django.test import Client

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import passwords
from identity.users import services as users
from identity.users.models import User
from interaction.experience.models import SignInExperience
from tests.support.cast import PASSWORD
from tests.support.sign_in_api import PATH, Refusal, credentials, find_refusal, refusal_message, sessions

JSON = {"Content-Type": "application/json"}


class TestRefusal:
    def test_decision_X3_unknown_and_wrong_are_the_same(self, acme):
        user = acme.user("alice", email="alice@example.com", phone="+4915112345678")
        with acme.active():
            users.suspend(acme.user("suspended"))
            User.objects.filter(pk=acme.user("codes-only").pk).update(password="")
        tries = [
            ("nobody", PASSWORD),
            ("nobody@example.com", PASSWORD),
            ("+4900000000", PASSWORD),
            (user.username, "wrong"),
            (user.username, PASSWORD + " "),
            (user.username, " " + PASSWORD),
            (user.username, PASSWORD.upper()),
            (user.email, "wrong"),
            (user.phone, "wrong"),
            (str(user.pk), PASSWORD),
            ("suspended", "wrong"),
            ("codes-only", "wrong"),
            ("codes-only", "!"),
            ("alice' OR '1'='1", PASSWORD),
            ("alice%", PASSWORD),
            ("\u202ealice", PASSWORD),
            ("x" * 254, "y" * 256),
        ]

        answers = [acme.post(PATH, json={"identifier": who, "password": what}) for who, what in tries]

        for answer in answers:
            assert find_refusal(answer) == Refusal(401)
        assert len({answer.content for answer in answers}) == 1
        assert len({tuple(sorted(set(answer.headers) - {"date", "x-request-id"})) for answer in answers}) == 1
        assert sessions(acme) == 0

    @pytest.mark.parametrize(
        ("who", "password"),
        [
            ("nobody", PASSWORD),
            ("alice", "wrong"),
            ("suspended", "wrong"),
            ("codes-only", "wrong"),
            ("alice", PASSWORD),
        ],
    )
    def test_decision_X3_costs_one_hash_whoever_it_is(self, acme, hashes, who, password):
        acme.user("alice")
        with acme.active():
            users.suspend(acme.user("suspended"))
            User.objects.filter(pk=acme.user("codes-only").pk).update(password="")
        hashes.clear()

        Client().post(
            f"/t/{acme.tenant.slug}{PATH}",
            {"identifier": who, "password": password},
            content_type="application/json",
        )

        assert hashes == [(19 * 1024, 2, 1)]

    def test_case_I01_takes_the_same_time(self, acme):
        user = acme.user()
        tries = {"unknown": "nobody", "wrong": user.username}

        def compare(http: httpx.Client) -> float:
            taken: dict[str, list[float]] = {kind: [] for kind in tries}
            for _ in range(10):
                for kind, who in tries.items():
                    began = time.perf_counter()
                    http.post(f"{acme.address}{PATH}", json={"identifier": who, "password": "wrong"})
                    taken[kind].append(time.perf_counter() - began)
            return min(taken["unknown"]) / min(taken["wrong"])

        # Without the hash for nobody it would always be a third. Other programs disturb single rounds.
        with httpx.Client() as http:
            assert any(0.6 < compare(http) < 1.6 for _ in range(6))

    def test_case_I02_suspension_is_told_after_the_right_password_only(self, acme):
        user = acme.user()
        with acme.active():
            users.suspend(user)

        wrong = acme.post(PATH, json=credentials(user, password="wrong"))
        right = acme.post(PATH, json=credentials(user))

        assert find_refusal(wrong) == Refusal(401)
        assert refusal_message(right, 403) == "this account is suspended"
        assert sessions(acme) == 0

    def test_a_user_who_is_let_in_again_signs_in(self, acme):
        user = acme.user()
        with acme.active():
            users.suspend(user)
            users.reactivate(user)

        answer = acme.post(PATH, json=credentials(user))

        assert answer.status_code == 200

    @pytest.mark.parametrize(
        ("kind", "identifier"),
        [("username", "alice"), ("email", "alice@example.com"), ("phone", "+4915112345678")],
    )
    def test_decision_X3_a_method_that_is_off_is_400_for_anybody(self, acme, kind, identifier):
        acme.user("alice", email="alice@example.com", phone="+4915112345678")
        with acme.active():
            experience = SignInExperience.objects.get()
            for method in experience.sign_in["methods"]:
                method["password"] = method["identifier"] != kind
            experience.save()
        unknown = {"username": "nobody", "email": "nobody@example.com", "phone": "00000"}[kind]

        known = acme.post(PATH, json={"identifier": identifier, "password": PASSWORD})
        stranger = acme.post(PATH, json={"identifier": unknown, "password": PASSWORD})
        others = [
            acme.post(PATH, json={"identifier": other, "password": PASSWORD})
            for other in ("alice", "alice@example.com", "+4915112345678")
            if other != identifier
        ]

        assert refusal_message(known, 400) == refusal_message(stranger, 400)
        assert [answer.status_code for answer in others] == [200, 200]

    def test_case_I24_a_method_that_is_gone_is_off(self, acme):
        user = acme.user()
        with acme.active():
            SignInExperience.objects.update(sign_in={"methods": []})

        answer = acme.post(PATH, json=credentials(user))

        assert find_refusal(answer) == Refusal(400)
        assert sessions(acme) == 0

    def test_decision_A1_leaves_an_entry_that_names_no_user_and_no_password(self, acme):
        user = acme.user()

        acme.post(PATH, json=credentials(user, password="the wrong one"), headers={"User-Agent": "A browser"})

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").get()
        assert entry.payload == {
            "username": user.username,
            "result": "failed",
            "error": "invalid_credentials",
        }
        assert (entry.user_id, entry.ip, entry.user_agent) == (None, "127.0.0.1", "A browser")

    def test_decision_A1_a_success_names_user_application_and_session(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        browser.authorize(client)
        browser.sign_in(user)

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").get()
        with acme.active():
            session = Session.objects.get()
        assert entry.payload == {
            "username": user.username,
            "result": "success",
            "session_id": str(session.pk),
        }
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_more_than_can_be_hashed_are_told_to_come_back(self, acme, crowded):
        path, body = f"/t/{acme.tenant.slug}{PATH}", {"identifier": "nobody", "password": PASSWORD}

        answer = Client().post(path, body, content_type="application/json")
        crowded()
        again = Client().post(path, body, content_type="application/json")

        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "2"
        assert answer.json()["code"] == 503
        assert again.status_code == 401


@pytest.fixture
def hashes(monkeypatch):
    """The costs of every password hash that this process computes."""
    costs = []

    def counted(method):
        def wrapper(hasher, *arguments, **named):
            costs.append((hasher.memory_cost, hasher.time_cost, hasher.parallelism))
            return method(hasher, *arguments, **named)

        return wrapper

    for name in ("encode", "verify"):
        monkeypatch.setattr(passwords.Argon2id, name, counted(getattr(passwords.Argon2id, name)))
    return costs


class TestBadInput:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b" ",
            b"{",
            b"nonsense",
            b"null",
            b"true",
            b"1",
            b'"text"',
            b"[]",
            b'[{"identifier": "a", "password": "b"}]',
            b'{"identifier": "a", "password": "b",}',
            b"{'identifier': 'a', 'password': 'b'}",
            b'{"identifier": "a", "password": NaN}',
            b'{"identifier": "a", "password": Infinity}',
            b'{"identifier": "a", "password": 1e400}',
            b'{"identifier": "a\\u0000", "password": "b"}',
            b'{"identifier": "a", "password": "b\\u0000"}',
            b'{"identifier": "a", "password": "b", "x\\u0000": 1}',
            b'{"identifier": "a", "password": "b", "x": [{"y": "\\u0000"}]}',
            b'{"identifier": "\\ud800", "password": "b"}',
            b'{"identifier": "a", "password": "\\udfff\\ud800"}',
            b'{"identifier": "\xff", "password": "b"}',
            b'\xef\xbb\xbf{"identifier": "a", "password": "b"}',
            '{"identifier": "a", "password": "b"}'.encode("utf-16"),
            b'{"identifier": "a", "password": "b"} {}',
            b'{"x": ' + b"[" * 40 + b"]" * 40 + b"}",
            b'{"x": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
            b'{"x": ' + b'{"x":' * 10_000 + b"1" + b"}" * 10_001,
            b"[" * 60_000,
        ],
        ids=lambda body: repr(body[:40]) + f" {len(body)}",
    )
    def test_decision_H3_what_is_no_json_object_is_400(self, acme, body):
        began = time.monotonic()

        answer = acme.post(PATH, content=body, headers=JSON)

        assert find_refusal(answer) == Refusal(400)
        assert time.monotonic() - began < 2

    @pytest.mark.parametrize("field", ["identifier", "password"])
    @pytest.mark.parametrize("value", [None, [], ["a"], {}, {"a": 1}, True, False, ""], ids=repr)
    def test_case_L03_a_field_of_another_type_is_400_and_named(self, acme, field, value):
        answer = acme.post(PATH, json=credentials(acme.user(), **{field: value}))

        assert refusal_message(answer, 400).startswith(f"{field}: ")

    @pytest.mark.parametrize("value", [None, [], {}, True, "x" * 37], ids=repr)
    def test_case_L03_an_interaction_of_another_type_is_400_and_named(self, acme, value):
        answer = acme.post(PATH, json=credentials(acme.user(), interaction=value))

        assert refusal_message(answer, 400).startswith("interaction: ")

    @pytest.mark.parametrize("field", ["identifier", "password"])
    def test_a_missing_field_is_400_and_named(self, acme, field):
        body = credentials(acme.user())
        del body[field]

        answer = acme.post(PATH, json=body)

        assert refusal_message(answer, 400) == f"{field}: This field is required"

    @pytest.mark.parametrize(("field", "most"), [("identifier", 254), ("password", 256)])
    def test_case_L04_what_is_too_long_is_400_and_not_hashed(self, acme, hashes, field, most):
        body = credentials(acme.user(), **{field: "x" * (most + 1)})
        hashes.clear()

        answer = acme.post(PATH, json=body)
        Client().post(f"/t/{acme.tenant.slug}{PATH}", body, content_type="application/json")

        assert refusal_message(answer, 400).startswith(f"{field}: ")
        assert hashes == []

    def test_case_I22_every_character_of_a_long_password_counts(self, acme):
        long = "p" * 255 + "1"
        user = acme.user(password=long)

        right = acme.post(PATH, json=credentials(user, password=long))
        wrong = acme.post(PATH, json=credentials(user, password="p" * 255 + "2"))

        assert (right.status_code, wrong.status_code) == (200, 401)

    @pytest.mark.parametrize("size", [64 * 1024 + 1, 10 * 1024 * 1024])
    def test_decision_N14_more_than_64_kib_is_413(self, acme, size):
        answer = acme.post(PATH, content=b" " * size, headers=JSON)

        assert find_refusal(answer) == Refusal(413)

    def test_decision_N14_64_kib_are_read(self, acme):
        user = acme.user()
        body = json.dumps(credentials(user)).encode()

        answer = acme.post(PATH, content=body + b" " * (64 * 1024 - len(body)), headers=JSON)

        assert answer.status_code == 200

    def test_case_L13_a_compressed_body_is_not_unpacked(self, acme):
        body = json.dumps(credentials(acme.user())).encode()

        answer = acme.post(PATH, content=body, headers=JSON | {"Content-Encoding": "gzip"})

        assert answer.status_code in {200, 400, 415}
        assert sessions(acme) == (answer.status_code == 200)

    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE"])
    def test_decision_H3_another_method_is_405_and_says_which_to_use(self, acme, method):
        answer = httpx.request(method, f"{acme.address}{PATH}")

        assert find_refusal(answer) == Refusal(405)
        assert answer.headers["Allow"] == "POST, OPTIONS"

    @pytest.mark.parametrize(
        "path", [f"{PATH}/", f"{PATH}/x", "/api/interaction", "/api/interaction/nothing", "/api/"]
    )
    def test_decision_H3_an_unknown_address_is_404(self, acme, path):
        answer = acme.post(path, json={})

        assert find_refusal(answer) == Refusal(404)

    def test_an_unknown_tenant_is_404(self, acme):
        answer = httpx.post(f"{settings.BASE_URL}/t/no-such-tenant{PATH}", json={})

        assert answer.status_code == 404

    def test_case_K05_what_was_typed_is_written_down_tamely(self, acme):
        identifier = "a\r\nb\x1b[31m\u202e'\"{}<script>" + "é" * 100

        acme.post(
            PATH,
            json={"identifier": identifier, "password": "x"},
            headers={"User-Agent": "U\tA" + "x" * 3000},
        )

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Password").get()
        assert entry.payload["username"] == f"hash:{entry.identifier_key}"
        assert len(entry.user_agent) == 512

"""POST /api/interaction/register: making an account of one's own."""

import secrets
from typing import Any

import httpx
import pytest

from audit.models import Entry
from database.clock import seconds_ahead
from identity.sessions.models import Session
from identity.users.models import User
from interaction.verification.models import VerificationCode
from tests.support import codes
from tests.support.cast import World, query_of
from tests.support.codes import REGISTER, experience, new_email, new_phone
from tests.support.sign_in_api import Refusal, find_refusal, refusal_message
from tests.support.threads import at_once

PASSWORD = "a good password 1"


def new_username() -> str:
    return f"u-{secrets.token_hex(4)}"


def filled(**fields: Any) -> dict[str, Any]:
    return {"username": new_username(), "password": PASSWORD} | fields


def people(world: World) -> list[User]:
    with world.active():
        return list(User.objects.order_by("created_at"))


def entries(world: World, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "pk"))


class TestSuccess:
    def test_makes_an_account_and_signs_in(self, acme):
        browser = acme.browser()

        answer = browser.post(REGISTER, json=filled(username="Ada", name="Ada Lovelace"))

        assert answer.status_code == 200, answer.text
        assert answer.json()["result"] == {"redirect_to": f"/t/{acme.tenant.slug}/account"}
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Ada Lovelace" in browser.get("/account").text
        (user,) = people(acme)
        assert (user.username, user.name, user.login_count) == ("Ada", "Ada Lovelace", 1)
        assert user.password.startswith("argon2$argon2id$")
        with acme.active():
            assert Session.objects.get().amr == ["pwd"]

    def test_the_password_signs_in_from_then_on(self, acme):
        acme.browser().post(REGISTER, json=filled(username="ada"))

        answer = acme.post("/api/interaction/sign-in", json={"identifier": "ADA", "password": PASSWORD})

        assert answer.status_code == 200

    def test_decision_X1_goes_on_with_the_request_that_waits(self, acme):
        client, browser = acme.application(), acme.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]

        answer = browser.post(REGISTER, json=filled(interaction=interaction))

        back = browser.get(answer.json()["result"]["redirect_to"])
        tokens = client.redeem(query_of(back.headers["Location"])["code"])
        assert tokens.status_code == 200
        assert entries(acme, "Register.Username")[0].application_id == str(client.application.pk)

    @pytest.mark.parametrize(
        ("identifiers", "key"),
        [
            (["username"], "Register.Username"),
            (["email"], "Register.Email"),
            (["phone"], "Register.Phone"),
            (["phone", "email", "username"], "Register.Username"),
        ],
    )
    def test_decision_A1_leaves_one_entry_by_its_first_identifier(self, acme, identifiers, key):
        experience(acme, sign_up={"identifiers": identifiers})
        every = {"username": new_username(), "email": new_email(), "phone": new_phone()}
        given = {name: every[name] for name in identifiers}

        answer = acme.post(REGISTER, json={"password": PASSWORD} | given)

        assert answer.status_code == 200, answer.text
        (entry,) = entries(acme, key)
        (user,) = people(acme)
        assert entry.payload.keys() == {"username", "result", "session_id"}
        assert (entry.payload["username"], entry.payload["result"]) == (user.identifier, "success")
        assert entry.user_id == str(user.pk)

    def test_decision_X4_identifiers_that_are_not_asked_for_are_extras(self, acme):
        email, phone = new_email(), new_phone()

        answer = acme.post(REGISTER, json=filled(email=email, phone=phone, name="Ada"))

        assert answer.status_code == 200, answer.text
        (user,) = people(acme)
        assert (user.email, user.phone) == (email, phone)
        assert (user.email_verified, user.phone_verified) == (False, False)

    def test_a_password_that_is_not_asked_for_may_be_left_out(self, acme):
        experience(acme, sign_up={"password": False})

        answer = acme.post(REGISTER, json={"username": "ada"})

        assert answer.status_code == 200
        assert people(acme)[0].password == ""

    def test_null_is_nothing(self, acme):
        answer = acme.post(REGISTER, json=filled(email=None, phone=None, name=None))

        assert answer.status_code == 200, answer.text

    def test_what_only_an_administrator_sets_is_ignored(self, acme):
        acme.post(
            REGISTER,
            json=filled(is_suspended=True, email_verified=True, email=new_email(), custom_data={"a": 1}),
        )

        (user,) = people(acme)
        assert (user.is_suspended, user.email_verified, user.custom_data) == (False, False, {})

    def test_a_browser_that_was_somebody_elses_is_the_new_persons(self, acme):
        browser, before = acme.browser(), acme.user("before")
        browser.sign_in(before)

        browser.post(REGISTER, json=filled(username="after"))

        assert "after" in browser.get("/account").text
        with acme.active():
            assert Session.objects.get(user=before).ended_at is not None


class TestRefusal:
    @pytest.mark.parametrize(
        ("taken", "field"),
        [
            ({"username": "ADA"}, "username"),
            ({"email": "Ada@Example.com"}, "email"),
            ({"phone": "+49 151 000 000 01"}, "phone"),
        ],
    )
    def test_what_is_taken_is_400_and_named(self, acme, taken, field):
        acme.user("ada", email="ada@example.com", phone="+4915100000001")

        answer = acme.post(REGISTER, json=filled(**taken))

        assert refusal_message(answer, 400) == f"{field}: already exists"
        assert len(people(acme)) == 1
        (entry,) = entries(acme, "Register.Username")
        assert (entry.payload["result"], entry.payload["error"]) == ("failed", "invalid")

    def test_what_another_tenant_has_is_free(self, acme, rival):
        rival.user("ada", email="ada@example.com")

        answer = acme.post(REGISTER, json=filled(username="ada", email="ada@example.com"))

        assert answer.status_code == 200

    def test_eight_at_once_are_one_account(self, acme):
        def work(_: int) -> httpx.Response:
            return httpx.post(f"{acme.address}{REGISTER}", json=filled(username="ada"))

        answers = at_once(8, work)

        assert sorted(answer.status_code for answer in answers) == [200] + [400] * 7
        assert {answer.json()["message"] for answer in answers} == {"success", "username: already exists"}
        assert len(people(acme)) == 1
        with acme.active():
            assert Session.objects.count() == 1

    @pytest.mark.parametrize("missing", ["username", "email", "phone", "password"])
    @pytest.mark.parametrize("how", ["absent", "empty", "null"])
    def test_what_the_experience_asks_for_is_required(self, acme, missing, how):
        experience(acme, sign_up={"identifiers": ["username", "email", "phone"]})
        body = filled(email=new_email(), phone=new_phone())
        if how == "absent":
            del body[missing]
        else:
            body[missing] = "" if how == "empty" else None

        message = refusal_message(acme.post(REGISTER, json=body), 400)

        assert message.startswith(f"{missing}: ")
        assert people(acme) == []

    def test_case_I25_with_nothing_to_register_with_it_is_off(self, acme):
        experience(acme, sign_up={"identifiers": []})

        assert refusal_message(acme.post(REGISTER, json=filled()), 400) == "registration is switched off"
        assert people(acme) == []

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("username", "a b"),
            ("username", "ada@example.com"),
            ("username", "+4915112345678"),
            ("username", "x" * 129),
            ("username", "ada\u0000"),
            ("username", 7),
            ("email", "ada"),
            ("email", "a@b@c.d"),
            ("phone", "ada"),
            ("phone", "0" * 20),
            ("name", "x" * 257),
            ("name", "a\nb"),
            ("password", "x1" * 129),
            ("password", ["a"]),
            ("interaction", "nonsense"),
        ],
    )
    def test_what_breaks_a_rule_is_400_and_named(self, acme, field, value):
        message = refusal_message(acme.post(REGISTER, json=filled(**{field: value})), 400)

        if "\0" not in str(value):
            assert message.startswith(f"{field}: ")
        assert people(acme) == []

    @pytest.mark.parametrize(
        ("password", "says"),
        [
            ("zqx7kv", ["have at least 8 characters"]),
            ("longenough", ["have a digit"]),
            ("50319427", ["have a lower-case letter"]),
            ("QZX", ["have at least 8 characters", "have a lower-case letter", "have a digit"]),
        ],
    )
    def test_case_I22_every_broken_rule_of_the_policy_is_named(self, acme, password, says):
        message = refusal_message(acme.post(REGISTER, json=filled(password=password)), 400)

        assert message == "password: must " + ", ".join(says)

    def test_the_policy_is_that_of_the_tenant(self, acme, rival):
        experience(acme, password_policy={"min_length": 32, "require_special_chars": True})
        body = filled(password="vkqzwx7b")

        assert find_refusal(acme.post(REGISTER, json=body)) == Refusal(400)
        assert rival.post(REGISTER, json=body).status_code == 200

    def test_case_I22_white_space_at_the_ends_counts(self, acme):
        acme.post(REGISTER, json=filled(username="ada", password=" vkqzw7x "))

        tries = [
            acme.post("/api/interaction/sign-in", json={"identifier": "ada", "password": password})
            for password in (" vkqzw7x ", "vkqzw7x")
        ]

        assert [answer.status_code for answer in tries] == [200, 401]


class TestVerified:
    @pytest.fixture
    def strict(self, reachable):
        experience(reachable, sign_up={"identifiers": ["email"], "verify": True})
        return reachable

    def test_decision_X4_an_email_must_be_proven_first(self, strict):
        answer = strict.post(REGISTER, json={"email": new_email(), "password": PASSWORD})

        assert refusal_message(answer, 400).startswith("email: enter the verification code")
        assert people(strict) == []

    def test_decision_X4_what_was_proven_is_verified(self, strict):
        email, browser = new_email(), strict.browser()
        codes.proven(browser, email, "register")

        answer = browser.post(REGISTER, json={"email": email, "password": PASSWORD})

        assert answer.status_code == 200, answer.text
        (user,) = people(strict)
        assert (user.email, user.email_verified, user.username) == (email, True, "")
        with strict.active():
            assert Session.objects.get().amr == ["pwd", "otp"]

    def test_a_phone_likewise(self, strict):
        experience(strict, sign_up={"identifiers": ["phone"], "password": False})
        phone, browser = new_phone(), strict.browser()
        codes.proven(browser, phone, "register")

        answer = browser.post(REGISTER, json={"phone": phone})

        assert answer.status_code == 200, answer.text
        (user,) = people(strict)
        assert (user.phone, user.phone_verified) == (phone, True)

    def test_every_one_that_is_given_must_be(self, strict):
        email, browser = new_email(), strict.browser()
        codes.proven(browser, email, "register")

        answer = browser.post(REGISTER, json={"email": email, "phone": new_phone(), "password": PASSWORD})

        assert refusal_message(answer, 400).startswith("phone: ")

    def test_the_address_is_the_one_that_was_proven(self, strict):
        email, browser = new_email(), strict.browser()
        codes.proven(browser, email, "register")

        browser.post(REGISTER, json={"email": email.upper(), "password": PASSWORD})

        assert people(strict)[0].email == email

    def test_another_email_in_another_browser_for_another_purpose_or_late_is_400(self, strict):
        email, browser = new_email(), strict.browser()
        strict.user(email=email)
        codes.proven(browser, email, "forgot_password")
        for_reset = browser.post(REGISTER, json={"email": email, "password": PASSWORD})
        other, mine = new_email(), new_email()
        codes.proven(browser, other, "register")
        another = browser.post(REGISTER, json={"email": mine, "password": PASSWORD})
        elsewhere = strict.browser().post(REGISTER, json={"email": other, "password": PASSWORD})
        with strict.active():
            VerificationCode.objects.exclude(used_at=None).update(used_at=seconds_ahead(-601))
        too_late = browser.post(REGISTER, json={"email": other, "password": PASSWORD})

        for answer in (for_reset, another, elsewhere, too_late):
            assert find_refusal(answer) == Refusal(400)

    def test_a_refusal_wastes_nothing(self, strict):
        email, browser = new_email(), strict.browser()
        codes.proven(browser, email, "register")

        weak = browser.post(REGISTER, json={"email": email, "password": "short"})
        strong = browser.post(REGISTER, json={"email": email, "password": PASSWORD})

        assert (weak.status_code, strong.status_code) == (400, 200)

    def test_case_I10_who_has_an_account_is_told_its_owner_only(self, strict):
        taken, browser = new_email(), strict.browser()
        strict.user(email=taken)

        strangers = [
            strict.post(REGISTER, json={"email": email, "password": PASSWORD})
            for email in (taken, new_email())
        ]
        codes.proven(browser, taken, "register")
        owner = browser.post(REGISTER, json={"email": taken, "password": PASSWORD})

        assert refusal_message(strangers[0], 400) == refusal_message(strangers[1], 400)
        assert refusal_message(owner, 400) == "email: already exists"

    def test_a_proof_is_good_for_one_account(self, strict):
        email, browser = new_email(), strict.browser()
        codes.proven(browser, email, "register")
        browser.post(REGISTER, json={"email": email, "password": PASSWORD})
        with strict.active():
            User.objects.all().delete()

        assert find_refusal(browser.post(REGISTER, json={"email": email, "password": PASSWORD})) == Refusal(
            400
        )

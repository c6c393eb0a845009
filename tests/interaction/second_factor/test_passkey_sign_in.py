"""Signing in with a passkey alone, over HTTP."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from audit.models import Entry
from identity.core import tenancy
from identity.factors.models import Passkey
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from tests.support import factors
from tests.support.factors import has_session, is_signed_in
from tests.support.passkey_device import BE, BS, UP, UV
from tests.support.passkeys import OPTIONS, VERIFY, ask, device, enrol, send, switch_on, use
from tests.support.threads import at_once

REFUSED = {"code": 401, "message": "the passkey was not accepted", "result": {"reason": "passkey_refused"}}


@pytest.fixture
def phone(acme, user):
    """A device with a passkey of the user, in a tenant that has them."""
    switch_on(acme)
    with_passkey = device()
    enrol(acme, user, with_passkey)
    return with_passkey


def last_entry(world, key="SignIn.Passkey"):
    return Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("-pk").first()


@dataclass(frozen=True)
class Refusal:
    """What a refused passkey leads to: the answer, and what the log says."""

    check: str | None
    error: str | None = "passkey_refused"
    status: int = 401
    body: Any = field(default_factory=lambda: REFUSED)
    has_session: bool = False


def find_refusal(world, answer):
    facts = last_entry(world).payload
    return Refusal(
        facts.get("check"), facts.get("error"), answer.status_code, answer.json(), has_session(answer)
    )


class TestSignIn:
    def test_decision_M20_a_passkey_that_verified_the_user_signs_in_with_both_factors(
        self, acme, user, phone
    ):
        browser = acme.browser()

        answer = use(browser, phone)

        assert answer.status_code == 200, answer.text
        assert is_signed_in(browser)
        with acme.active():
            session = Session.objects.get()
            row = Passkey.objects.get()
        assert (session.user_id, session.level, session.amr) == (user.pk, 3, ["pop", "user", "mfa"])
        assert row.last_used_at is not None
        entry = last_entry(acme)
        assert (entry.payload["result"], entry.user_id) == ("success", str(user.pk))
        assert entry.payload["acr"] == "phr"

    def test_decision_M12_no_code_is_asked_for_after_a_passkey(self, acme, user):
        switch_on(acme, "Totp", "WebAuthn", policy="Mandatory")
        factors.enrol(acme, user)
        phone = device()
        enrol(acme, user, phone)
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)

        answer = use(acme.browser(), phone)

        assert has_session(answer)
        assert "next" not in answer.json()["result"]

    def test_decision_M62_one_assertion_eight_times_at_once_gives_one_session(self, acme, user, phone):
        browser = acme.browser()
        credential = phone.get(ask(browser, "sign_in"))

        answers = at_once(8, lambda _: send(browser, "sign_in", credential))

        assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7
        with acme.active():
            assert Session.objects.count() == 1
            assert User.objects.get(pk=user.pk).login_count == 1
        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SignIn.Passkey")
        assert sorted(entry.payload["result"] for entry in entries) == ["failed"] * 7 + ["success"]

    def test_it_leads_back_to_the_application(self, acme, user, phone):
        client, browser = acme.application(), acme.browser()
        interaction = browser.authorize(client).headers["Location"].partition("interaction=")[2]

        options = ask(browser, "sign_in", interaction=interaction)
        answer = send(browser, "sign_in", phone.get(options), interaction=interaction)

        assert interaction in answer.json()["result"]["redirect_to"]

    def test_it_is_off_by_default(self, acme, user):
        answers = [
            acme.browser().post(OPTIONS, json={"ceremony": "sign_in"}),
            acme.browser().post(VERIFY, json={"ceremony": "sign_in", "credential": {}}),
        ]

        for answer in answers:
            assert answer.status_code == 403, answer.text

    def test_a_suspended_user_is_told_after_the_passkey(self, acme, user, phone):
        with acme.active():
            User.objects.filter(pk=user.pk).update(is_suspended=True)

        wrong, right = use(acme.browser(), phone, signature=b"x"), use(acme.browser(), phone)

        assert (wrong.status_code, right.status_code) == (401, 403)
        assert not has_session(right)


class TestRefusals:
    @pytest.mark.parametrize(
        ("check", "wrong"),
        [
            ("origin", {"origin": "https://evil.example"}),
            ("cross_origin", {"cross_origin": True}),
            ("rp_id", {"rp_id": "evil.example"}),
            ("user_verification", {"flags": UP | BE | BS}),
            ("backup_flags", {"flags": UP | UV | BS}),
            ("type", {"type": "webauthn.create"}),
            ("signature", {"signature": b"wrong"}),
            ("user_handle", {"user_handle": uuid4().bytes}),
            ("user_handle", {"user_handle": None}),
        ],
    )
    def test_decision_M24_the_answer_is_one_word_and_the_log_has_the_check(
        self, acme, user, phone, check, wrong
    ):
        assert find_refusal(acme, use(acme.browser(), phone, **wrong)) == Refusal(check)

    def test_decision_M23_a_passkey_of_another_tenant_is_unknown(self, acme, rival, phone):
        switch_on(rival)

        assert find_refusal(rival, use(rival.browser(), phone)) == Refusal("unknown_credential")

    def test_case_MT19_a_challenge_is_good_once_in_one_browser(self, acme, user, phone):
        browser, other = acme.browser(), acme.browser()
        credential = phone.get(ask(browser, "sign_in"))
        ask(other, "sign_in")

        stolen = send(other, "sign_in", credential)
        assert find_refusal(acme, stolen) == Refusal("challenge")
        assert has_session(send(browser, "sign_in", credential))
        assert find_refusal(acme, send(browser, "sign_in", credential)) == Refusal("challenge_used")

    def test_case_MT19_a_challenge_of_another_ceremony_is_refused(self, acme, user, phone):
        switch_on(acme, "WebAuthn")
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)
        browser = acme.browser()
        factors.half(browser, user)
        options = ask(browser, "second_factor")

        assert find_refusal(acme, send(browser, "sign_in", phone.get(options))) == Refusal("challenge")

    def test_case_MT25_a_counter_that_goes_back_is_recorded(self, acme, user):
        switch_on(acme)
        key = device(flags=0, step=5)
        row = enrol(acme, user, key)
        assert has_session(use(acme.browser(), key))

        assert find_refusal(acme, use(acme.browser(), key, counter=3)) == Refusal("counter")

        entry = last_entry(acme, "Passkey.CounterAnomaly")
        assert (entry.user_id, entry.payload["id"]) == (str(user.pk), str(row.pk))
        with acme.active():
            assert Passkey.objects.get().sign_count == 5

    @pytest.mark.parametrize("credential", [None, "x", [], 7])
    def test_a_credential_that_is_no_object_is_invalid(self, acme, phone, credential):
        answer = send(acme.browser(), "sign_in", credential)

        assert answer.status_code == 400

    def test_an_object_of_another_shape_is_refused(self, acme, phone):
        assert find_refusal(acme, send(acme.browser(), "sign_in", {"a": 1})) == Refusal("json")

    def test_case_MT34_pages_of_other_origins_are_refused(self, acme, phone):
        for path in (OPTIONS, VERIFY):
            answer = acme.browser().post(
                path,
                json={"ceremony": "sign_in", "credential": {}},
                headers={"Origin": "https://evil.example"},
            )
            assert (answer.status_code, answer.json()["result"]) == (403, "")

    def test_case_MT39_the_log_has_neither_challenge_nor_credential(self, acme, user, phone):
        browser = acme.browser()
        options = ask(browser, "sign_in")
        credential = phone.get(options)

        send(browser, "sign_in", credential)

        text = str(list(Entry.objects.filter(tenant_id=acme.tenant.pk).values_list("payload", flat=True)))
        assert options["challenge"] not in text
        assert credential["id"] not in text


class TestIdentifiers:
    """A front end may send what the user typed. The options do not depend on it."""

    def test_case_MT14_decision_M29_options_name_no_credentials(self, acme, user, phone):
        for _ in range(2):
            enrol(acme, user, device())
        named = [user.username, acme.user().username, "nobody", ""]

        answers = [ask(acme.browser(), "sign_in", identifier=name) for name in named]

        assert [options["allowCredentials"] for options in answers] == [[]] * 4
        for options in answers:
            assert options.keys() == answers[0].keys()
            assert len(options["challenge"]) == len(answers[0]["challenge"])

    def test_decision_M29_any_passkey_signs_in_its_own_user(self, acme, user, phone):
        browser = acme.browser()
        options = ask(browser, "sign_in", identifier=acme.user().username)

        assert has_session(send(browser, "sign_in", phone.get(options)))
        with acme.active():
            assert Session.objects.get().user_id == user.pk


def test_case_MT41_the_passkeys_of_one_person_in_two_tenants_stay_apart(acme, rival):
    phone, people = device(), {}
    for world in (acme, rival):
        switch_on(world)
        people[world] = world.user("ada")
        enrol(world, people[world], phone)

    for world, key in zip((acme, rival), phone.keys, strict=True):
        browser = world.browser()
        assert has_session(send(browser, "sign_in", phone.get(ask(browser, "sign_in"), key=key)))
    with tenancy.using(tenancy.EVERYWHERE):
        assert {row.user_id for row in Passkey.objects.filter(tenant__in=[acme.tenant, rival.tenant])} == {
            user.pk for user in people.values()
        }


def test_a_deleted_user_takes_the_passkeys_along(acme, user, phone):
    with acme.active():
        users.remove(User.objects.get(pk=user.pk))

    assert find_refusal(acme, use(acme.browser(), phone)) == Refusal("unknown_credential")

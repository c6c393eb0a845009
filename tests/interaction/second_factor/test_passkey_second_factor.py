"""Passkeys and security keys as the second factor, and setting them up, over HTTP."""

import pytest

from audit.models import Entry
from identity.factors.challenges import Ceremony
from identity.factors.models import Passkey
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import factors, management, passkey_device
from tests.support.cast import PASSWORD
from tests.support.factors import half, has_session, is_signed_in
from tests.support.management import result_of
from tests.support.passkeys import (
    OPTIONS,
    VERIFY,
    ask,
    create,
    device,
    enrol,
    security_key,
    send,
    switch_on,
    use,
)


@pytest.fixture
def key(acme, user):
    """A security key of the user, in a tenant that has them."""
    switch_on(acme, "WebAuthn", "Totp", sign_in=False)
    plugged = security_key()
    enrol(acme, user, plugged, Ceremony.SET_UP_SECURITY_KEY)
    return plugged


def stored(world):
    with world.active():
        return list(Passkey.objects.order_by("created_at"))


class TestSecondFactor:
    def test_decision_M5_a_security_key_without_verification_completes_the_sign_in(self, acme, user, key):
        browser = acme.browser()
        step = half(browser, user)["next"]

        answer = use(browser, key, "second_factor")

        assert (step["step"], step["preferred"]) == ("second_factor", "WebAuthn")
        assert has_session(answer), answer.text
        assert is_signed_in(browser)
        with acme.active():
            session = Session.objects.get()
        assert (session.level, session.amr) == (3, ["pwd", "pop", "user", "mfa"])

    def test_the_own_credentials_are_named(self, acme, user, key):
        browser = acme.browser()
        half(browser, user)

        (named,) = ask(browser, "second_factor")["allowCredentials"]

        assert named["id"] == stored(acme)[0].credential_id
        assert named["transports"] == ["hybrid", "internal"]

    def test_case_MT15_a_key_of_somebody_else_is_refused(self, acme, user, key):
        other, theirs = acme.user(), security_key()
        enrol(acme, other, theirs, Ceremony.SET_UP_SECURITY_KEY)
        browser = acme.browser()
        half(browser, user)

        answer = send(browser, "second_factor", theirs.get(ask(browser, "second_factor"), key=theirs.keys[0]))

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "passkey_refused"})
        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Mfa.Verify").get()
        assert entry.payload["check"] == "unknown_credential"
        assert entry.payload["type"] == "WebAuthn"

    def test_decision_M11_the_tenth_refusal_ends_the_sign_in(self, acme, user, key):
        browser = acme.browser()
        half(browser, user)

        answers = [use(browser, key, "second_factor", signature=b"x").status_code for _ in range(10)]

        assert answers == [401] * 10
        assert browser.post(OPTIONS, json={"ceremony": "second_factor"}).status_code == 404

    def test_case_MT16_a_security_key_does_not_sign_in_alone(self, acme, user, key):
        switch_on(acme, "WebAuthn")
        browser = acme.browser()

        answer = send(browser, "sign_in", key.get(ask(browser, "sign_in"), key=key.keys[0]))

        assert answer.status_code == 401
        assert not has_session(answer)

    def test_case_MT1_without_a_first_factor_there_is_nothing(self, acme, user, key):
        browser = acme.browser()

        for path in (OPTIONS, VERIFY):
            answer = browser.post(path, json={"ceremony": "second_factor", "credential": {}})
            assert answer.status_code in {400, 404}
            assert not has_session(answer)

    def test_a_factor_that_the_tenant_switched_off_is_not_asked_for(self, acme, user, key):
        switch_on(acme, "Totp", sign_in=False)

        assert has_session(acme.browser().sign_in(user))


class TestSetUpInASignIn:
    @pytest.mark.parametrize("ceremony", ["set_up", "set_up_security_key"])
    def test_decision_M42_the_new_passkey_completes_the_sign_in(self, acme, user, ceremony):
        switch_on(acme, "WebAuthn", sign_in=False, policy="Mandatory")
        browser = acme.browser()
        step = half(browser, user)["next"]

        answer = create(browser, device(), ceremony, name="My phone")

        assert step["step"] == "set_up"
        assert has_session(answer), answer.text
        (row,) = stored(acme)
        assert (row.name, row.user_id) == ("My phone", user.pk)
        with acme.active():
            assert User.objects.get(pk=user.pk).two_step is (ceremony == "set_up_security_key")

    def test_case_MT7_a_password_adds_no_factor_beside_an_existing_one(self, acme, user, key):
        browser = acme.browser()
        half(browser, user)

        answer = browser.post(OPTIONS, json={"ceremony": "set_up"})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})

    def test_case_MT8_a_challenge_of_another_sign_in_is_refused(self, acme, user):
        switch_on(acme, "WebAuthn", sign_in=False, policy="Mandatory")
        browser, other = acme.browser(), acme.browser()
        half(browser, user)
        half(other, acme.user())
        credential = device().create(ask(other, "set_up"))

        answer = send(browser, "set_up", credential)

        assert answer.status_code == 401
        assert stored(acme) == []

    def test_case_MT24_a_credential_of_somebody_else_is_refused(self, acme, user):
        switch_on(acme, "WebAuthn", sign_in=False, policy="Mandatory")
        first, second = acme.browser(), acme.browser()
        half(first, user)
        half(second, acme.user())
        device_of_first, copy = device(), device()

        send(first, "set_up", device_of_first.create(ask(first, "set_up"), credential_id=b"the same"))
        answer = send(second, "set_up", copy.create(ask(second, "set_up"), credential_id=b"the same"))

        assert (answer.status_code, answer.json()["result"]) == (400, {"reason": "already_enrolled"})
        assert len(stored(acme)) == 1

    def test_decision_M46_after_a_recovery_code_the_new_passkey_replaces_the_lost_ones(self, acme, user, key):
        admin, browser = management.superuser(acme), acme.browser()
        code = result_of(admin.post(f"/users/{user.pk}/recovery-codes"))["code"]
        half(browser, user)

        recovered = browser.post("/api/interaction/mfa/recovery-code", json={"code": code})
        options = ask(browser, "set_up_security_key")
        answer = send(browser, "set_up_security_key", security_key().create(options))

        assert recovered.json()["result"]["next"]["step"] == "set_up"
        assert options["excludeCredentials"] == []
        assert has_session(answer), answer.text
        (row,) = stored(acme)
        assert row.credential_id != passkey_device.encode(key.keys[0].id)


class TestSetUpInASession:
    def signed_in(self, world, user):
        browser = world.browser()
        assert has_session(browser.sign_in(user))
        return browser

    def test_decision_M8_a_passkey_for_signing_in_is_not_asked_for_elsewhere(self, acme, user):
        switch_on(acme, "WebAuthn")
        browser = self.signed_in(acme, user)

        answer = create(browser, device(), name="Phone")

        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["redirect_to"].endswith("/account/security/passkeys")
        assert is_signed_in(browser)
        assert "Phone" in browser.get("/account/security/passkeys").text
        assert has_session(acme.browser().sign_in(user))

    def test_backup_codes_come_after_the_first_passkey(self, acme, user):
        switch_on(acme, "WebAuthn", "BackupCode")
        browser = self.signed_in(acme, user)

        answer = create(browser, device())
        offered = browser.get(answer.json()["result"]["redirect_to"])

        assert offered.url.path.endswith("/account/security/codes")
        assert "Passkey added." in offered.text
        assert "Create backup codes" in offered.text

    def test_decision_M8_a_security_key_is_asked_for_from_now_on(self, acme, user):
        switch_on(acme, "WebAuthn")

        create(self.signed_in(acme, user), security_key(), "set_up_security_key")

        assert not has_session(acme.browser().sign_in(user))

    def test_decision_M44_the_first_factor_signs_out_other_browsers(self, acme, user):
        switch_on(acme, "WebAuthn")
        other, browser = self.signed_in(acme, user), self.signed_in(acme, user)

        create(browser, device())

        assert is_signed_in(browser)
        assert not is_signed_in(other)

    def test_case_MT7_an_old_sign_in_needs_the_password(self, acme, user):
        switch_on(acme, "WebAuthn")
        browser = self.signed_in(acme, user)
        with acme.active():
            session = Session.objects.get()
            Session.objects.update(auth_time=session.auth_time.replace(year=2020))
        phone = device()

        without = create(browser, phone)
        wrong = create(browser, phone, password="wrong")
        right = create(browser, phone, password=PASSWORD)

        assert [answer.status_code for answer in (without, wrong, right)] == [403, 401, 200]
        assert len(stored(acme)) == 1

    def test_case_MT7_a_second_passkey_needs_the_first(self, acme, user):
        switch_on(acme, "WebAuthn")
        phone = device()
        enrol(acme, user, phone)
        browser = self.signed_in(acme, user)

        refused = browser.post(OPTIONS, json={"ceremony": "set_up"})
        confirmed = use(browser, phone, "confirm")
        added = create(browser, device())

        assert (refused.status_code, refused.json()["result"]["reason"]) == (403, "confirm_needed")
        assert refused.json()["result"]["ways"] == [{"type": "WebAuthn"}]
        assert (confirmed.status_code, added.status_code) == (200, 200), confirmed.text
        assert len(stored(acme)) == 2

    def test_case_MT8_a_challenge_of_another_session_is_refused(self, acme, user):
        switch_on(acme, "WebAuthn")
        browser, other = self.signed_in(acme, user), self.signed_in(acme, acme.user())

        answer = send(browser, "set_up", device().create(ask(other, "set_up")))

        assert answer.status_code == 401
        assert stored(acme) == []

    def test_a_tenant_without_passkeys_has_none(self, acme, user):
        browser = self.signed_in(acme, user)

        assert browser.post(OPTIONS, json={"ceremony": "set_up"}).status_code == 403
        assert browser.get("/account/security/passkeys").status_code == 303

    @pytest.mark.parametrize("ceremony", ["set_up", "set_up_security_key", "confirm"])
    def test_nobody_who_is_not_signed_in_sets_one_up(self, acme, ceremony):
        switch_on(acme, "WebAuthn")

        answer = acme.browser().post(OPTIONS, json={"ceremony": ceremony})

        assert answer.status_code == 401


class TestRemoving:
    def remove(self, browser, row, **fields):
        page = browser.get("/account/security/passkeys")
        token = page.text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        return browser.post(
            "/account/security/passkeys",
            data={"csrfmiddlewaretoken": token, "remove": str(row.pk)} | fields,
            headers={"Origin": browser.world.address.partition("/t/")[0]},
        )

    def test_the_own_one_is_removed_after_a_confirmation(self, acme, user):
        switch_on(acme, "WebAuthn")
        phone, browser = device(), acme.browser()
        row = enrol(acme, user, phone)
        use(browser, phone)

        answer = self.remove(browser, row, password=PASSWORD)

        assert answer.status_code == 303, answer.text
        assert stored(acme) == []

    def test_that_of_another_user_stays(self, acme, user):
        switch_on(acme, "WebAuthn")
        phone, browser = device(), acme.browser()
        enrol(acme, user, phone)
        theirs = enrol(acme, acme.user(), device())
        use(browser, phone)

        self.remove(browser, theirs, password=PASSWORD)

        assert theirs in stored(acme)

    def test_decision_M45_the_last_way_in_stays(self, acme):
        switch_on(acme, "WebAuthn")
        user = acme.user()
        with acme.active():
            User.objects.filter(pk=user.pk).update(password="")
        phone, browser = device(), acme.browser()
        row = enrol(acme, user, phone)
        use(browser, phone)

        answer = self.remove(browser, row)

        assert answer.status_code == 403
        assert stored(acme) == [row]


def test_the_step_tells_both_factors(acme, user, key):
    factors.enrol(acme, user)
    browser = acme.browser()

    methods = half(browser, user)["next"]["methods"]

    assert methods == [{"type": "WebAuthn"}, {"type": "Totp"}]

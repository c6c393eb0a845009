"""The signed-in user's second factors over the account API, for a company's own account pages."""

import pytest

from identity.factors.models import Authenticator, Passkey
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import audit_log, codes, passkeys
from tests.support.account import change, entries
from tests.support.cast import PASSWORD
from tests.support.factors import (
    SET_UP,
    enrol,
    half,
    has_session,
    is_signed_in,
    switch_on,
)
from tests.support.management import refusal_of, result_of
from tests.support.own_factors import (
    CONFIRM,
    FACTORS,
    NOBODY,
    SETTINGS,
    add_authenticator,
    begin,
    listed,
    remove,
    rename,
    send,
)


def add_passkey(browser, device, ceremony="set_up", name="Laptop"):
    credential = device.create(passkeys.ask(browser, ceremony))
    body = {"type": "WebAuthn", "credential": credential, "ceremony": ceremony, "name": name}
    return browser.post(FACTORS, json=body)


class TestAdding:
    def test_decision_M50_an_authenticator_steps_the_session_up(self, tenant, browser, user):
        before = dict(browser.http.cookies)

        _, created = add_authenticator(browser)

        assert (created["type"], created["name"], created["last_used_at"]) == ("Totp", "Phone", None)
        assert listed(browser) == [created]
        with tenant.active():
            session = Session.objects.get()
        assert (session.level, session.amr) == (2, ["pwd", "otp", "mfa"])
        assert before != dict(browser.http.cookies)
        assert half(tenant.browser(), user)["next"]["preferred"] == "Totp"
        assert audit_log.last(tenant, "Mfa.Create").payload["name"] == "Phone"

    @pytest.mark.parametrize(("ceremony", "asks"), [("set_up", False), ("set_up_security_key", True)])
    def test_decision_M50_a_passkey_or_a_security_key(self, tenant, browser, user, ceremony, asks):
        device = passkeys.device()

        created = result_of(add_passkey(browser, device, ceremony))

        assert (created["type"], created["name"], created["rp_id"]) == ("WebAuthn", "Laptop", "127.0.0.1")
        with tenant.active():
            assert Session.objects.get().level == 3
            assert User.objects.get(pk=user.pk).two_step is asks

    def test_decision_M50_backup_codes_are_shown_once(self, tenant, browser):
        add_authenticator(browser)

        made = browser.post(FACTORS, json={"type": "BackupCode"})

        assert set(result_of(made)) == {"type", "codes"}
        assert len(set(result_of(made)["codes"])) == 10
        assert made.headers["Cache-Control"] == "no-store"
        assert listed(browser)[1]["remaining"] == 10
        assert "codes" not in listed(browser)[1]

    def test_decision_M32_backup_codes_need_another_factor(self, browser):
        answer = browser.post(FACTORS, json={"type": "BackupCode"})

        assert answer.status_code == 400

    def test_decision_M44_the_first_factor_signs_other_browsers_out(self, tenant, browser, user):
        other = tenant.browser()
        other.sign_in(user)

        add_authenticator(browser)

        assert [is_signed_in(browser), is_signed_in(other)] == [True, False]

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({}, "type"),
            ({"type": "EmailVerificationCode"}, "type"),
            ({"type": "Totp"}, "enrolment"),
            ({"type": "Totp", "enrolment": "x"}, "code"),
            ({"type": "WebAuthn"}, "credential"),
            ({"type": "WebAuthn", "credential": "x"}, "credential"),
            ({"type": "WebAuthn", "credential": {}, "ceremony": "sign_in"}, "ceremony"),
            ({"type": "BackupCode", "name": "x" * 65}, "name"),
        ],
    )
    def test_bad_input_names_the_field(self, browser, body, field):
        answer = browser.post(FACTORS, json=body)

        assert answer.status_code == 400
        assert field in answer.json()["message"]

    def test_decision_18_17_a_credential_that_is_none_is_refused_or_named(self, browser):
        credential = passkeys.device().create(passkeys.ask(browser, "set_up"))
        credential["response"]["attestationObject"] = "AAAA"

        answer = browser.post(FACTORS, json={"type": "WebAuthn", "credential": credential})

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "passkey_refused"})

    def test_case_MT8_a_secret_of_another_session_is_refused(self, tenant, browser, user):
        app, enrolment = begin(browser)
        body = {"type": "Totp", "enrolment": enrolment, "code": app.code()}
        twin, other = tenant.browser(), tenant.browser()
        twin.sign_in(user)
        other.sign_in(tenant.user())

        for thief in (twin, other):
            answer = thief.post(FACTORS, json=body)
            assert (answer.status_code, answer.json()["result"]) == (400, {"reason": "enrolment_expired"})

        with tenant.active():
            assert not Authenticator.objects.exists()

    def test_case_MT18_an_answer_of_another_ceremony_is_refused(self, tenant, browser):
        credential = passkeys.device().create(passkeys.ask(browser, "set_up_security_key"))

        answer = browser.post(FACTORS, json={"type": "WebAuthn", "credential": credential})

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "passkey_refused"})
        with tenant.active():
            assert not Passkey.objects.exists()


class TestChanging:
    def test_decision_M50_factors_are_renamed(self, tenant, browser):
        _, app = add_authenticator(browser)
        key = result_of(add_passkey(browser, passkeys.device()))

        for factor in (app, key):
            answer = rename(browser, factor["id"], "Old phone")
            assert result_of(answer) == {**factor, "name": "Old phone"}

        assert {factor["name"] for factor in listed(browser)} == {"Old phone"}
        renamed = entries(tenant, "Mfa.Rename")
        assert {entry.payload["type"] for entry in renamed} == {"Totp", "WebAuthn"}
        rename(browser, app["id"], "Old phone")
        assert len(entries(tenant, "Mfa.Rename")) == 2

    @pytest.mark.parametrize("name", ["x" * 65, "a\nb", 7, {}])
    def test_a_bad_name_is_refused(self, browser, name):
        _, created = add_authenticator(browser)

        refusal_of(rename(browser, created["id"], name), 400)

    def test_decision_M50_a_factor_is_removed(self, tenant, browser, user):
        _, created = add_authenticator(browser)
        result_of(browser.post(FACTORS, json={"type": "BackupCode"}))

        assert result_of(remove(browser, created["id"])) is None

        assert listed(browser) == []  # backup codes are no factor alone
        assert has_session(tenant.browser().sign_in(user))

    def test_backup_codes_have_no_name_but_can_be_removed(self, browser):
        add_authenticator(browser)
        browser.post(FACTORS, json={"type": "BackupCode"})
        backup = listed(browser)[1]["id"]

        assert rename(browser, backup, "Paper").status_code == 404
        result_of(remove(browser, backup))

        assert [factor["type"] for factor in listed(browser)] == ["Totp"]

    def test_decision_M45_the_last_factor_stays_where_one_is_demanded(self, tenant, browser):
        _, created = add_authenticator(browser)
        switch_on(tenant, "Totp", policy="Mandatory")

        answer = remove(browser, created["id"])

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_required"})
        assert len(listed(browser)) == 1

    def test_decision_M45_the_only_way_in_stays_and_nothing_else(self, tenant, browser, user):
        key = result_of(add_passkey(browser, passkeys.device()))
        _, app = add_authenticator(browser)
        change(tenant, user, password="")

        result_of(remove(browser, app["id"]))
        answer = remove(browser, key["id"])

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "no_way_in"})
        assert [factor["id"] for factor in listed(browser)] == [key["id"]]

    def test_decision_M45_a_way_that_is_switched_off_is_none(self, tenant, browser, user):
        key = result_of(add_passkey(browser, passkeys.device()))
        codes.experience(tenant, sign_in={"methods": []})

        answer = remove(browser, key["id"])

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "no_way_in"})
        assert [factor["id"] for factor in listed(browser)] == [key["id"]]

    def test_decision_M45_nor_is_another_passkey_where_passkeys_do_not_sign_in(self, tenant, browser):
        keys = [result_of(add_passkey(browser, passkeys.device())) for _ in range(2)]
        codes.experience(tenant, sign_in={"methods": []}, passkey_sign_in={"enabled": False})

        answer = remove(browser, keys[0]["id"])

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "no_way_in"})
        assert len(listed(browser)) == 2

    def test_a_factor_of_another_user_or_tenant_is_unknown(self, tenant, rival, browser):
        passkeys.switch_on(rival, "Totp", "WebAuthn")
        for world in (tenant, rival):
            other = world.browser()
            other.sign_in(world.user())
            _, theirs = add_authenticator(other)
            key = result_of(add_passkey(other, passkeys.device()))
            for factor in (theirs, key):
                assert rename(browser, factor["id"], "Mine").status_code == 404
                assert remove(browser, factor["id"]).status_code == 404
            assert [factor["name"] for factor in listed(other)] == ["Laptop", "Phone"]
        for wrong in (NOBODY, "no-id"):
            assert rename(browser, wrong, "x").status_code == 404
            assert remove(browser, wrong).status_code == 404

    def test_rows_have_no_versions(self, browser):
        _, created = add_authenticator(browser)

        for answer in (
            rename(browser, created["id"], "x", **{"If-Match": '"x"'}),
            remove(browser, created["id"], **{"If-Match": '"x"'}),
        ):
            refusal_of(answer, 412)

        assert listed(browser) == [created]


class TestSettings:
    def test_decision_M50_two_step_is_switched(self, tenant, browser, user):
        add_authenticator(browser)
        before = browser.get(SETTINGS)

        after = send(browser, "PATCH", SETTINGS, {"two_step": False})

        assert result_of(before) == {"two_step": True, "prompt_skipped_at": None}
        assert result_of(after) == {"two_step": False, "prompt_skipped_at": None}
        assert has_session(tenant.browser().sign_in(user))

    def test_an_edit_of_an_old_version_is_refused(self, browser):
        add_authenticator(browser)
        tag = browser.get(SETTINGS).headers["ETag"]

        same = send(browser, "PATCH", SETTINGS, {"two_step": True}, **{"If-Match": tag})
        edited = send(browser, "PATCH", SETTINGS, {"two_step": False}, **{"If-Match": tag})
        late = send(browser, "PATCH", SETTINGS, {"two_step": True}, **{"If-Match": tag})
        empty = send(browser, "PATCH", SETTINGS, {}, **{"If-Match": tag})

        assert same.headers["ETag"] == tag
        assert edited.headers["ETag"] != tag
        refusal_of(late, 412)
        refusal_of(empty, 412)
        assert result_of(browser.get(SETTINGS))["two_step"] is False

    def test_nothing_to_ask_for_cannot_be_switched_on(self, browser):
        answer = send(browser, "PATCH", SETTINGS, {"two_step": True})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert answer.json()["message"] == "two_step: set up a factor first"

    def test_decision_M45_a_demanded_step_cannot_be_switched_off(self, tenant, browser):
        add_authenticator(browser)
        switch_on(tenant, "Totp", policy="Mandatory")

        answer = send(browser, "PATCH", SETTINGS, {"two_step": False})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_required"})


ROUTES = [
    ("GET", FACTORS),
    ("POST", FACTORS),
    ("PATCH", f"{FACTORS}/{NOBODY}"),
    ("DELETE", f"{FACTORS}/{NOBODY}"),
    ("GET", SETTINGS),
    ("PATCH", SETTINGS),
    ("POST", CONFIRM),
]


class TestWhoMay:
    @pytest.mark.parametrize(("method", "path"), ROUTES)
    def test_case_MT1_MT34_only_the_signed_in_user_at_this_origin(self, tenant, browser, method, path):
        user = tenant.user()
        enrol(tenant, user)
        nobody, halfway = tenant.browser(), tenant.browser()
        half(halfway, user)
        body = {"password": PASSWORD} if method in {"POST", "PATCH"} else None

        assert refusal_of(send(nobody, method, path, body), 401) is not None
        assert refusal_of(send(halfway, method, path, body), 401) is not None
        for foreign in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            answer = send(browser, method, path, body, **foreign)
            assert (answer.status_code, answer.json()["result"]) == (403, "")

    @pytest.mark.parametrize(("method", "path"), [route for route in ROUTES if route[0] in {"POST", "PATCH"}])
    def test_decision_18_17_other_content_is_refused(self, browser, method, path):
        url = f"{browser.world.address}{path}"

        form = browser.http.request(method, url, data={"type": "BackupCode"})
        broken = browser.http.request(method, url, content="{", headers={"Content-Type": "application/json"})

        assert (form.status_code, form.json()["result"]) == (415, "")
        assert broken.status_code == 400

    def test_case_MT3_a_session_of_another_tenant_is_none_here(self, tenant, rival, browser):
        stranger, slug = rival.browser(), browser.world.tenant.slug
        for name, value in browser.http.cookies.items():
            stranger.http.cookies.set(name.replace(slug, rival.tenant.slug), value)

        refusal_of(send(stranger, "GET", FACTORS), 401)

    def test_a_tenant_without_factors_adds_none(self, acme):
        browser = acme.browser()
        browser.sign_in(acme.user())

        begun = browser.post(SET_UP, json={})
        made = browser.post(FACTORS, json={"type": "BackupCode"})

        assert listed(browser) == []
        for answer in (begun, made):
            assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})

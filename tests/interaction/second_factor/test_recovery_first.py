"""A recovery code of an administrator as the first factor of somebody who has no other one."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import Authenticator, Passkey, RecoveryGrant
from identity.sessions.models import Session
from interaction.experience import services as experiences
from interaction.social.models import SocialIdentity
from tests.support import (
    account,
    audit_log,
    codes,
    factors,
    management,
    openid,
    operators,
    passkeys,
    social,
)
from tests.support.cast import query_of
from tests.support.factors import (
    NEXT,
    SET_UP,
    SET_UP_VERIFY,
    SKIP,
    TOTP,
    App,
    enrol,
    half,
    has_session,
    pending,
)
from tests.support.forms import forms
from tests.support.management import result_of
from tests.support.threads import at_once

ESSENTIAL = {"id_token": {"acr": {"essential": True, "values": ["phr"]}}}
RECOVER = "/api/interaction/mfa/recovery-code"
WRONG = "AAAA-AAAA-AAAA-AAAA"


@pytest.fixture
def acme(acme):
    passkeys.switch_on(acme, "WebAuthn", "Totp")
    return acme


@pytest.fixture
def user(acme):
    """Somebody who signed in with a passkey, and lost it."""
    user = acme.user()
    account.change(acme, user, password="")
    passkeys.enrol(acme, user, passkeys.device())
    return user


def issue(admin, user):
    return result_of(admin.post(f"/users/{user.pk}/recovery-codes"))["code"]


def recover(browser, user, code, **fields):
    identifier = user if isinstance(user, str) else user.username
    return browser.post(RECOVER, json={"identifier": identifier, "code": code} | fields)


def link(world, user):
    """Link an account at GitHub to a user."""
    with world.active():
        SocialIdentity.objects.create(
            user=user,
            provider="https://github.com",
            subject="1",
            connector_id="github",
            provider_name="GitHub",
            last_used_at=timezone.now(),
        )


def set_up(browser, **fields):
    offer = browser.post(SET_UP, json=fields).json()["result"]
    app = App(offer["secret"])
    return browser.post(
        SET_UP_VERIFY, json={"enrolment": offer["enrolment"], "code": app.code()} | fields
    ), app


class TestUse:
    def test_decision_M46_it_leads_to_a_new_factor_and_the_old_ones_go(self, acme, admin, user):
        browser = acme.browser()

        recovered = recover(browser, user, issue(admin, user).lower().replace("-", " "))
        following = recovered.json()["result"]["next"]
        done, _ = set_up(browser)

        assert not has_session(recovered)
        assert (following["step"], following["skippable"]) == ("set_up", False)
        assert has_session(done)
        with acme.active():
            session = Session.objects.get()
            assert (Authenticator.objects.count(), Passkey.objects.count()) == (1, 0)
        assert (session.user_id, session.level, session.amr) == (user.pk, 2, ["otp", "mfa"])

    def test_decision_M46_a_new_passkey_is_a_way_to_sign_in_again(self, acme, admin, user):
        browser, device = acme.browser(), passkeys.device()
        recover(browser, user, issue(admin, user))

        created = passkeys.send(browser, "set_up", device.create(passkeys.ask(browser, "set_up")))
        again = acme.browser()
        answer = passkeys.send(again, "sign_in", device.get(passkeys.ask(again, "sign_in")))

        assert has_session(created), created.text
        assert has_session(answer), answer.text

    def test_case_MT11_it_reaches_nothing_but_that(self, acme, admin, user):
        app = enrol(acme, user)
        browser = acme.browser()
        recover(browser, user, issue(admin, user))

        assert browser.post(SKIP, json={}).status_code == 403
        assert browser.post(TOTP, json={"code": app.code()}).status_code == 403
        assert browser.get("/account").status_code == 303
        with acme.active():
            assert not Session.objects.exists()
            assert (Authenticator.objects.count(), Passkey.objects.count()) == (1, 1)

    def test_decision_M46_it_works_once(self, acme, admin, user):
        code = issue(admin, user)

        answers = at_once(8, lambda _: recover(acme.browser(), user, code))

        assert sorted(answer.status_code for answer in answers) == [200, *[401] * 7]
        assert len(pending(acme)) == 1

    def test_decision_M11_the_sign_in_belongs_to_the_browser_and_ends_with_a_reset(self, acme, admin, user):
        browser, other = acme.browser(), acme.browser()
        recover(browser, user, issue(admin, user))

        assert other.get(NEXT).json()["result"] == {"step": "sign_in"}
        result_of(admin.delete(f"/users/{user.pk}/mfa-verifications"))
        assert browser.get(NEXT).json()["result"] == {"step": "sign_in"}

    def test_it_goes_on_with_the_request_of_an_application(self, acme, admin, user):
        browser, client = acme.browser(), acme.application()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]

        recover(browser, user, issue(admin, user), interaction=interaction)
        done, _ = set_up(browser, interaction=interaction)

        end = browser.get(done.json()["result"]["redirect_to"]).headers["Location"]
        assert client.redeem(query_of(end)["code"]).status_code == 200

    def test_decision_M36_it_is_no_risk_because_a_new_factor_is_asked_for_anyhow(self, acme, admin, user):
        with acme.active():
            experiences.change({"adaptive_mfa": {"enabled": True, "new_browser": True}}, is_proven=True)

        answer = recover(acme.browser(), user, issue(admin, user))

        assert answer.json()["result"]["next"]["reasons"] == ["person"]
        assert not audit_log.entries(acme, "Risk.Detected")

    def test_a_factor_that_a_request_demands_besides_is_set_up_beside_the_new_one(self, acme, admin, user):
        browser, client, device = acme.browser(), acme.application(), passkeys.device()
        asked = browser.authorize(client, claims=json.dumps(ESSENTIAL)).headers["Location"]
        interaction = {"interaction": query_of(asked)["interaction"]}
        recover(browser, user, issue(admin, user), **interaction)

        first, _ = set_up(browser, **interaction)
        created = device.create(passkeys.ask(browser, "set_up", **interaction))
        done = passkeys.send(browser, "set_up", created, **interaction)

        assert first.json()["result"]["next"]["methods"] == [{"type": "WebAuthn"}]
        assert has_session(done), done.text
        with acme.active():
            assert Session.objects.get().level == 3
            assert (Authenticator.objects.count(), Passkey.objects.count()) == (1, 1)

    def test_the_log_has_the_way_and_no_code(self, acme, admin, user):
        code = issue(admin, user)

        recover(acme.browser(), user, WRONG)
        failed = audit_log.last(acme, "SignIn.FirstFactor")
        recover(acme.browser(), user, code)
        proven = audit_log.last(acme, "SignIn.FirstFactor")

        assert (failed.payload["result"], failed.payload["error"]) == ("failed", "second_factor_wrong")
        assert failed.payload["way"] == proven.payload["way"] == "recovery"
        assert (proven.payload["result"], proven.user_id) == ("success", str(user.pk))
        assert audit_log.last(acme, "User.RecoveryCodeUse").user_id == str(user.pk)
        logged = str([vars(entry) for entry in audit_log.entries(acme)])
        assert code not in logged
        assert code.replace("-", "") not in logged


class TestRefusals:
    def test_decision_M46_all_are_alike(self, acme, rival, admin, user):
        used, expired = acme.user(), acme.user()
        for one in (used, expired):
            account.change(acme, one, password="")
        old = issue(admin, used)
        recover(acme.browser(), used, old)
        late = issue(admin, expired)
        with acme.active():
            past = timezone.now() - timedelta(seconds=1)
            RecoveryGrant.objects.filter(user=expired).update(expires_at=past)
        factors.switch_on(rival)
        theirs = rival.user()
        account.change(rival, theirs, password="")
        issue(admin, user)

        answers = [
            recover(acme.browser(), *entered)
            for entered in [
                ("nobody", WRONG),
                ("nobody@example.com", WRONG),
                ("+4915112345678", WRONG),
                (user, WRONG),
                (acme.user(), WRONG),
                (used, old),
                (expired, late),
                (user, late),
                (theirs, issue(management.superuser(rival), theirs)),
            ]
        ]

        assert {answer.status_code for answer in answers} == {401}
        assert {answer.text for answer in answers} == {answers[0].text}
        assert all({*answer.headers} == {*answers[0].headers} for answer in answers)
        assert answers[0].json()["result"] == {"reason": "second_factor_wrong"}
        assert len(pending(acme)) == 1  # that of ``used``

    @pytest.mark.parametrize("other", ["password", "email", "phone", "linked"])
    def test_decision_M46_who_has_another_first_factor_proves_it_first(self, acme, admin, other):
        user = acme.user()
        if other != "password":
            account.change(acme, user, password="")
        if other in {"email", "phone"}:
            address = codes.new_email() if other == "email" else codes.new_phone()
            account.change(acme, user, **{other: address, f"{other}_key": address})
        if other == "linked":
            social.connect(acme, openid.CLIENT, "github")
            link(acme, user)
        enrol(acme, user)
        code = issue(admin, user)

        answer = recover(acme.browser(), user, code)

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "second_factor_wrong"})
        with acme.active():
            assert RecoveryGrant.objects.get().used_at is None
        if other == "password":
            browser = acme.browser()
            half(browser, user)
            assert browser.post(RECOVER, json={"code": code}).status_code == 200

    @pytest.mark.parametrize("connector", ["deleted", "disabled", "leads elsewhere"])
    def test_decision_M46_an_account_that_cannot_sign_in_is_no_first_factor(
        self, acme, admin, user, connector
    ):
        if connector == "disabled":
            social.connect(acme, openid.CLIENT, "github", enabled=False)
        elif connector == "leads elsewhere":
            social.connect(acme, openid.CLIENT | {"endpoint": "https://github.example"}, "github")
        link(acme, user)

        answer = recover(acme.browser(), user, issue(admin, user))

        assert result_of(answer)["next"]["step"] == "set_up"

    def test_a_suspended_user_is_told_after_the_right_code_only_and_keeps_it(self, acme, admin, user):
        code = issue(admin, user)
        account.change(acme, user, is_suspended=True)

        wrong, right = recover(acme.browser(), user, WRONG), recover(acme.browser(), user, code)

        assert (wrong.status_code, right.status_code) == (401, 403)
        assert "suspended" in right.json()["message"]
        with acme.active():
            assert RecoveryGrant.objects.get().used_at is None

    def test_a_password_set_meanwhile_ends_it(self, acme, admin, user):
        browser = acme.browser()
        recover(browser, user, issue(admin, user))
        result_of(admin.patch(f"/users/{user.pk}/password", password="a new password, 1 of many"))

        assert browser.get(NEXT).json()["result"] == {"step": "sign_in"}

    @pytest.mark.parametrize("mfa", [[], ["EmailVerificationCode"]])
    def test_where_nothing_can_be_set_up_it_is_off_for_everybody(self, acme, admin, user, mfa):
        code = issue(admin, user)
        with acme.active():
            experiences.change({"mfa": {"factors": mfa}}, is_proven=True)

        answers = [recover(acme.browser(), *entered) for entered in [(user, code), ("nobody", WRONG)]]

        assert {answer.status_code for answer in answers} == {403}
        assert {answer.text for answer in answers} == {answers[0].text}
        assert not any(map(has_session, answers))

    def test_case_MT13_wrong_codes_lock_nobody(self, acme, admin, user):
        app = enrol(acme, user)
        account.change(acme, user, password=acme.user().password)

        for _ in range(10):
            recover(acme.browser(), user, WRONG)

        browser = acme.browser()
        half(browser, user)
        assert has_session(browser.post(TOTP, json={"code": app.code()}))

    @pytest.mark.parametrize("identifier", [5, ["x"], "x" * 255, {"a": 1}])
    def test_a_malformed_identifier_is_400(self, acme, identifier):
        answer = acme.browser().post(RECOVER, json={"identifier": identifier, "code": WRONG})

        assert answer.status_code == 400
        assert answer.json()["message"].startswith("identifier")


class TestThePage:
    def test_it_leads_to_the_set_up(self, acme, admin, user):
        code, browser = issue(admin, user), acme.browser()
        link = "/sign-in/recovery"

        assert link in browser.get("/sign-in").text
        form = next(one for one in forms(browser.get(link)) if "code" in one.fields)
        empty = form.submit(browser, identifier="", code="")
        wrong = form.submit(browser, identifier=user.username, code=WRONG)
        right = form.submit(browser, identifier=user.username, code=code)

        assert (empty.status_code, wrong.status_code) == (400, 401)
        assert "This code is wrong or has expired." in wrong.text
        assert "Try the next one" not in wrong.text
        assert right.headers["Location"].endswith("/sign-in/set-up")
        assert browser.get("/sign-in/set-up").status_code == 200

    def test_the_page_for_codes_links_to_it(self, acme):
        codes.reachable(acme)

        assert "/sign-in/recovery" in acme.browser().get("/sign-in/code").text

    def test_where_nothing_can_be_set_up_there_is_none(self, rival):
        browser = rival.browser()

        assert browser.get("/sign-in/recovery").headers["Location"].endswith("/sign-in")
        assert "/sign-in/recovery" not in browser.get("/sign-in").text


class TestOperatorsSite:
    def test_a_code_can_be_made_for_somebody_without_any_way_in(self, acme):
        lost, linked, other = acme.user(), acme.user(), acme.user()
        account.change(acme, lost, password="")
        account.change(acme, linked, password="")
        link(acme, linked)
        operator = operators.at(acme)

        assert "recovery-code" in operator.get(f"/admin/users/user/{lost.pk}/change/").text
        assert "recovery-code" in operator.get(f"/admin/users/user/{linked.pk}/change/").text
        assert "recovery-code" not in operator.get(f"/admin/users/user/{other.pk}/change/").text

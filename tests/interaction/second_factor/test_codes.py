"""Backup codes and sent codes as the second factor."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import BackupCode
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.verification.models import VerificationCode
from tests.support import account, audit_log, codes
from tests.support.cast import PASSWORD, query_of
from tests.support.factors import (
    BACKUP,
    NEXT,
    SEND,
    TOTP,
    VERIFY,
    enrol,
    give_backup_codes,
    half,
    has_session,
)

EMAIL = "EmailVerificationCode"
PHONE = "PhoneVerificationCode"


@pytest.fixture
def user(user_with_email):
    return user_with_email


def set_first_password(world, user, address, app=None):
    """Sign in with a code alone, and set a first password in this session."""
    account.change(world, user, password="")
    browser = world.browser()
    assert has_session(codes.enter(browser, address, codes.sent(browser, address)))
    if app is not None:
        proven = {"type": "Totp", "code": app.code()}
        assert browser.post("/api/my-account/confirm", json=proven).status_code == 200
    answer = account.send(browser, "password", new_password=account.NEW)
    assert answer.status_code == 303, answer.text


class TestBackupCodes:
    @pytest.fixture
    def spare(self, acme, user):
        enrol(acme, user)
        return give_backup_codes(acme, user)

    def test_decision_M32_each_works_once(self, acme, user, spare):
        browser, again = acme.browser(), acme.browser()
        half(browser, user)
        half(again, user)

        assert has_session(browser.post(BACKUP, json={"code": spare[0]}))
        second = again.post(BACKUP, json={"code": spare[0]})

        assert (second.status_code, second.json()["result"]) == (401, {"reason": "second_factor_wrong"})
        assert audit_log.last(acme, "BackupCode.Use").payload["remaining"] == 9

    def test_one_is_not_used_up_by_a_sign_in_that_fails(self, acme, user, spare):
        browser = acme.browser()
        half(browser, user)
        with acme.active():
            User.objects.filter(pk=user.pk).update(is_suspended=True)
        refused = browser.post(BACKUP, json={"code": spare[0]})
        with acme.active():
            User.objects.filter(pk=user.pk).update(is_suspended=False)

        assert refused.status_code == 403
        assert has_session(browser.post(BACKUP, json={"code": spare[0]}))

    def test_decision_M32_spaces_dashes_and_case_do_not_matter(self, acme, user, spare):
        browser = acme.browser()
        half(browser, user)

        typed = f" {spare[1].replace('-', ' ').lower()} "

        assert has_session(browser.post(BACKUP, json={"code": typed}))

    def test_decision_M54_the_person_is_told_and_how_many_are_left(self, acme, user, spare, email):
        browser = acme.browser()
        half(browser, user)
        browser.post(BACKUP, json={"code": spare[0]})

        message = codes.message_about(email, "A backup code was used to sign in to your account")

        assert "Unused codes left: 9." in message["body"]
        assert spare[0] not in str(message)

    def test_case_MT10_the_code_of_another_user_is_wrong(self, acme, user, spare):
        other = acme.user()
        enrol(acme, other)
        theirs = give_backup_codes(acme, other)
        browser = acme.browser()
        half(browser, user)

        assert browser.post(BACKUP, json={"code": theirs[0]}).status_code == 401
        with acme.active():
            assert BackupCode.objects.filter(used_at=None).count() == 20

    def test_decision_M32_new_ones_end_the_old(self, acme, user, spare):
        fresh = give_backup_codes(acme, user)
        browser = acme.browser()
        half(browser, user)

        assert browser.post(BACKUP, json={"code": spare[0]}).status_code == 401
        assert has_session(browser.post(BACKUP, json={"code": fresh[0]}))

    def test_the_last_one_lets_in(self, acme, user, spare):
        with acme.active():
            keep = BackupCode.objects.values_list("pk", flat=True)[0]
            BackupCode.objects.exclude(pk=keep).delete()
        right = [code for code in spare if has_session(self._use(acme, user, code))]

        assert len(right) == 1

    def _use(self, acme, user, code):
        codes.let_time_pass(acme)
        browser = acme.browser()
        half(browser, user)
        return browser.post(BACKUP, json={"code": code})


class TestMailedCodes:
    def sent(self, browser, email, *, number=1):
        answer = browser.post(SEND, json={"type": EMAIL})
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"] == {"expires_in": 300}
        return codes.message_to(email, number=number)["code"]

    @pytest.fixture
    def two_step(self, acme, user):
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)
        return user

    def test_decision_M34_a_code_goes_to_the_verified_address(self, acme, two_step, email):
        browser = acme.browser()
        first = half(browser, two_step)

        code = self.sent(browser, email)
        answer = browser.post(VERIFY, json={"type": EMAIL, "code": code})

        assert first["next"]["methods"] == [{"type": EMAIL, "masked": f"{email[0]}•••@e•••.com"}]
        assert email not in str(first)
        assert has_session(answer)
        assert "second code" in codes.message_to(email)["subject"]

    def test_decision_M34_a_code_belongs_to_its_sign_in(self, acme, two_step, email):
        browser, other = acme.browser(), acme.browser()
        half(browser, two_step)
        half(other, two_step)
        code = self.sent(browser, email)

        assert other.post(VERIFY, json={"type": EMAIL, "code": code}).status_code == 401
        half(browser, two_step)
        assert browser.post(VERIFY, json={"type": EMAIL, "code": code}).status_code == 401

    def test_decision_M34_an_address_that_is_sent_along_is_ignored(self, acme, two_step, email):
        browser = acme.browser()
        half(browser, two_step)
        mine = codes.new_email()

        browser.post(SEND, json={"type": EMAIL, "identifier": mine})

        assert codes.message_to(email)
        assert codes.messages_to(mine) == []

    def test_decision_M16_an_address_that_is_not_verified_is_no_factor(self, acme, two_step):
        with acme.active():
            User.objects.filter(pk=two_step.pk).update(email_verified=False)

        assert has_session(acme.browser().sign_in(two_step))

    def test_decision_M21_an_email_code_is_no_second_factor_after_an_email_code(self, acme, two_step, email):
        enrol(acme, two_step)
        browser = acme.browser()

        entered = codes.enter(browser, email, codes.sent(browser, email))

        assert not has_session(entered)
        assert [method["type"] for method in entered.json()["result"]["next"]["methods"]] == ["Totp"]
        refused = browser.post(SEND, json={"type": EMAIL})
        assert (refused.status_code, refused.json()["result"]) == (403, {"reason": "factor_not_allowed"})

    def test_decision_M21_nor_after_a_password_that_a_mailed_code_has_just_set(self, acme, two_step, email):
        enrol(acme, two_step)
        with acme.active():
            experiences.change({"forgot_password_requires_factor": False}, is_proven=True)
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")
        new = "a new password, 1 of many"
        browser.post(codes.RESET, json={"identifier": email, "new_password": new})

        result = half(acme.browser(), two_step, password=new)

        assert [method["type"] for method in result["next"]["methods"]] == ["Totp"]

    def test_decision_M21_unless_there_is_no_other(self, acme, two_step, email):
        browser = acme.browser()
        codes.proven(browser, email, "forgot_password")
        new = "a new password, 1 of many"
        browser.post(codes.RESET, json={"identifier": email, "new_password": new})

        result = half(acme.browser(), two_step, password=new)

        assert [method["type"] for method in result["next"]["methods"]] == [EMAIL]

    def test_decision_M21_nor_after_a_password_set_in_a_session_that_a_mailed_code_began(
        self, acme, user, email
    ):
        set_first_password(acme, user, email)
        app = enrol(acme, user)

        browser = acme.browser()
        result = half(browser, user, password=account.NEW)

        assert [method["type"] for method in result["next"]["methods"]] == ["Totp"]
        assert browser.post(SEND, json={"type": EMAIL}).status_code == 403
        assert has_session(browser.post(TOTP, json={"code": app.code()}))

    def test_decision_M21_nor_if_another_factor_was_proven_in_that_session(self, acme, user, email):
        app = enrol(acme, user, two_step=False)
        set_first_password(acme, user, email, app)
        account.change(acme, user, two_step=True)

        result = half(acme.browser(), user, password=account.NEW)

        assert [method["type"] for method in result["next"]["methods"]] == ["Totp"]

    def test_decision_M21_a_day_later_they_count_again(self, acme, user, email):
        set_first_password(acme, user, email)
        enrol(acme, user)
        with acme.active():
            VerificationCode.objects.update(spent_at=timezone.now() - timedelta(hours=25))

        result = half(acme.browser(), user, password=account.NEW)

        assert [method["type"] for method in result["next"]["methods"]] == ["Totp", EMAIL]

    @pytest.mark.parametrize("first", ["password", "text message"])
    def test_decision_M21_after_another_first_factor_they_count(self, acme, user, first):
        phone, email, browser = codes.new_phone(), codes.new_email(), acme.browser()
        user = acme.user(email=email, email_verified=True, phone=phone, phone_verified=True)
        if first == "password":
            assert has_session(browser.sign_in(user))
            account.send(browser, "password", password=PASSWORD, new_password=account.NEW)
        else:
            set_first_password(acme, user, phone)
        enrol(acme, user)

        methods = half(acme.browser(), user, password=account.NEW)["next"]["methods"]

        types = [method["type"] for method in methods]
        assert EMAIL in types
        assert (PHONE in types) is (first == "password")

    def test_decision_M5_a_session_of_a_text_message_is_not_stepped_up_by_another(self, acme, user):
        phone, browser, client = codes.new_phone(), acme.browser(), acme.application()
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True, phone=phone, phone_verified=True)
        assert has_session(codes.enter(browser, phone, codes.sent(browser, phone)))
        with acme.active():
            assert user.sessions.get().amr == ["otp", "sms"]

        place = browser.authorize(client, acr_values="urn:service:acr:2fa").headers["Location"]
        interaction = query_of(place)["interaction"]
        methods = browser.get(NEXT, params={"interaction": interaction}).json()["result"]["methods"]

        assert [method["type"] for method in methods] == [EMAIL]

    def test_a_text_message_is_one_too(self, acme, two_step):
        phone = codes.new_phone()
        user = acme.user(phone=phone, phone_verified=True)
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)
        browser = acme.browser()
        first = half(browser, user)

        browser.post(SEND, json={"type": PHONE})
        code = codes.message_to(phone)["code"]
        answer = browser.post(VERIFY, json={"type": PHONE, "code": code})

        assert first["next"]["methods"] == [{"type": PHONE, "masked": f"•••{phone[-2:]}"}]
        assert has_session(answer)
        with acme.active():
            session = User.objects.get(pk=user.pk).sessions.get()
        assert session.amr == ["pwd", "otp", "sms", "mfa"]

    def test_case_MT36_codes_have_a_pause(self, acme, two_step, email):
        browser = acme.browser()
        half(browser, two_step)
        self.sent(browser, email)

        again = browser.post(SEND, json={"type": EMAIL})

        assert again.status_code == 400
        assert int(again.headers["Retry-After"]) <= 60

    def test_the_code_of_a_sign_in_is_not_that_of_a_second_factor(self, acme, two_step, email):
        browser = acme.browser()
        code = codes.sent(browser, email)
        half(browser, two_step)

        assert browser.post(VERIFY, json={"type": EMAIL, "code": code}).status_code == 401
        with acme.active():
            assert not VerificationCode.objects.filter(used_at__isnull=False).exists()

"""The account page of second factors: to set up, to remove, to switch on and off."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors.models import Authenticator, BackupCode
from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys.account.confirmation import SignInAgain
from interaction.pages import error_messages
from tests.support import account, audit_log, cast, codes, factors, management
from tests.support.cast import PASSWORD
from tests.support.factors import App, enrol, give_backup_codes, has_session, is_signed_in, switch_on
from tests.support.forms import form, forms
from tests.support.management import result_of

OLD = timedelta(minutes=6)
SECURITY = "/account/security"
ADD = "/account/security/authenticator"
CODES = "/account/security/codes"


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def browser(acme, user):
    """Somebody without a factor, just signed in, in a tenant that has them."""
    switch_on(acme, "Totp", "BackupCode")
    browser = acme.browser()
    browser.sign_in(user)
    return browser


def age(acme, *, factor=OLD):
    """Let the sign-in, and the proof of a second factor, be some time ago."""
    with acme.active():
        Session.objects.update(auth_time=timezone.now() - OLD)
        Session.objects.exclude(second_factor_at=None).update(second_factor_at=timezone.now() - factor)


def key_on(page):
    return page.text.partition('<code class="key" dir="ltr">')[2].partition("<")[0]


def send(browser, path, page, **typed):
    return account.Sender(browser, path).post("", data=form(page).fields | typed)


def press(browser, path, **typed):
    return send(browser, path, browser.get(path), **typed)


def add(browser, **typed):
    page = browser.get(ADD)
    assert page.status_code == 200
    return send(browser, ADD, page, code=App(key_on(page)).code(), **typed)


@pytest.mark.parametrize("name", ["a\x07b", "a\nb", "a\x85b"])
def test_a_name_with_control_characters_is_refused_when_an_authenticator_is_added(acme, browser, name):
    answer = add(browser, name=name)

    assert answer.status_code == 400
    assert "control characters" in answer.text
    with acme.active():
        assert not Authenticator.objects.exists()


class TestRenaming:
    def test_decision_M50_a_factor_gets_another_name(self, acme, user, browser):
        enrol(acme, user)
        give = form_of_rename(acme, browser)

        done = send(browser, SECURITY, give, name="Old phone")

        assert done.headers["Location"].endswith("/account/security?done=renamed")
        page = browser.get(SECURITY).text
        assert "Old phone" in page
        assert audit_log.last(acme, "Mfa.Rename").payload["type"] == "Totp"

    def test_a_name_without_sense_is_said_at_the_field(self, acme, user, browser):
        enrol(acme, user)
        give = form_of_rename(acme, browser)

        answer = send(browser, SECURITY, give, name="a\x07b")

        assert answer.status_code == 400
        assert "control characters" in answer.text

    def test_that_of_another_user_is_unknown(self, acme, user, browser):
        other = acme.user()
        enrol(acme, other)
        with acme.active():
            theirs = Authenticator.objects.get().pk

        assert browser.get(f"{SECURITY}?rename={theirs}").status_code == 404
        enrol(acme, user)
        give = form_of_rename(acme, browser, user)
        assert send(browser, SECURITY, give, rename=str(theirs), name="Mine").status_code == 404
        with acme.active():
            assert Authenticator.objects.get(pk=theirs).name == ""


def form_of_rename(acme, browser, user=None):
    """Prove the factor of a user and open the form for its name."""
    with acme.active():
        now = timezone.now()
        Session.objects.update(level=2, second_factor_at=now, auth_time=now)
        rows = Authenticator.objects.filter(user=user) if user else Authenticator.objects.all()
        pk = rows.get().pk
    return browser.get(f"{SECURITY}?rename={pk}")


class TestSettingUp:
    def test_decision_M42_an_authenticator(self, acme, user, browser):
        answer = add(browser, name="My phone")

        assert answer.status_code == 303
        assert answer.headers["Location"].endswith("/account/security/codes?done=added")
        shown = browser.get(SECURITY)
        assert "My phone" in shown.text
        assert "Two-step sign-in is on." in shown.text
        with acme.active():
            session = Session.objects.get()
        assert (session.level, session.amr) == (2, ["pwd", "otp", "mfa"])
        assert acme.browser().sign_in(user).json()["result"]["next"]["step"] == "second_factor"

    def test_backup_codes_come_next_and_need_no_password_again(self, browser):
        offered = browser.get(add(browser).headers["Location"])
        made = send(browser, f"{CODES}?done=added", offered)

        assert "Authenticator app added." in offered.text
        assert "Create backup codes" in offered.text
        assert "Not now" in offered.text
        assert "current-password" not in offered.text
        assert made.text.count("<li><code>") == 10

    @pytest.mark.parametrize("has_codes", [True, False])
    def test_the_page_of_factors_comes_next_for_users_who_need_no_backup_codes(
        self, acme, user, browser, has_codes
    ):
        switch_on(acme, *(["Totp", "BackupCode"] if has_codes else ["Totp"]))
        if has_codes:
            enrol(acme, user)
            give_backup_codes(acme, user)
            with acme.active():
                Session.objects.update(level=2, second_factor_at=timezone.now())

        assert add(browser).headers["Location"].endswith("/account/security?done=added")

    def test_decision_M14_the_session_gets_a_new_secret_and_keeps_its_id(self, acme, browser):
        old = dict(browser.http.cookies)
        with acme.active():
            before = Session.objects.get()

        add(browser)

        with acme.active():
            after = Session.objects.get()
        assert (after.pk, after.auth_time) == (before.pk, before.auth_time)
        assert after.token_hash != before.token_hash
        stale = acme.browser()
        for name, value in old.items():
            stale.http.cookies.set(name, value)
        assert not is_signed_in(stale)
        assert is_signed_in(browser)
        assert audit_log.last(acme, "Session.StepUp").payload["level"] == 2

    def test_decision_M44_the_first_one_signs_out_other_browsers(self, acme, user, browser):
        other = acme.browser()
        other.sign_in(user)

        add(browser)

        assert is_signed_in(browser)
        assert not is_signed_in(other)

    def test_decision_M43_a_password_that_was_not_given_lately_is_asked_for(self, acme, browser):
        age(acme)
        page = browser.get(ADD)
        app = App(key_on(page))

        wrong = send(browser, ADD, page, code=app.code(), password="wrong")
        with acme.active():
            assert not Authenticator.objects.exists()
        right = send(browser, ADD, wrong, code=app.code(), password=PASSWORD)

        assert "current-password" in page.text
        assert (wrong.status_code, right.status_code) == (401, 303)

    def test_decision_M43_somebody_without_a_password_signs_in_again(self, acme):
        switch_on(acme, "Totp")
        codes.reachable(acme)
        email = codes.new_email()
        account.change(acme, acme.user(email=email, email_verified=True), password="")
        browser = acme.browser()
        codes.enter(browser, email, codes.sent(browser, email))
        open_page = browser.get(ADD)
        age(acme)

        page = browser.get(ADD)
        answer = send(browser, ADD, open_page, code=App(key_on(open_page)).code())

        assert answer.status_code == 403
        assert "Sign in again" in page.text
        assert "Sign in again" in answer.text
        assert key_on(page) == key_on(answer) == ""

    def test_decision_M43_another_one_needs_the_first(self, acme, user, browser):
        app = enrol(acme, user)
        age(acme)

        asked = browser.get(ADD)
        page = browser.get(asked.headers["Location"])
        done = form(page).submit(browser, code=app.code())

        assert asked.headers["Location"].endswith("/confirm?back=account-authenticator")
        assert done.headers["Location"].endswith(ADD)
        assert add(browser, password=PASSWORD).status_code == 303
        with acme.active():
            assert Authenticator.objects.count() == 2

    def test_the_person_is_told(self, acme):
        switch_on(acme, "Totp")
        codes.reachable(acme)
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        browser = acme.browser()
        browser.sign_in(user)

        add(browser)

        assert (
            "was added to your account" in codes.message_to(email, number=2)["subject"]
        )  # after that of the new sign-in

    def test_a_wrong_code_is_said_at_the_field(self, browser):
        page = browser.get(ADD)

        answer = send(browser, ADD, page, code="000000")

        assert answer.status_code == 401
        assert key_on(answer) == key_on(page)

    def test_no_more_than_five(self, acme, user, browser):
        for _ in range(5):
            enrol(acme, user, two_step=False)
        with acme.active():
            Session.objects.update(level=2, second_factor_at=timezone.now())

        answer = add(browser)

        assert answer.status_code == 400
        assert "Remove one first" in answer.text


class TestRemoving:
    @pytest.fixture
    def app(self, acme, user):
        switch_on(acme, "Totp", "BackupCode")
        return enrol(acme, user)

    @pytest.fixture
    def inside(self, acme, user, app):
        return factors.signed_in(acme, user, app)

    def remove(self, acme, browser, **typed):
        with acme.active():
            pk = Authenticator.objects.values_list("pk", flat=True).first()
        return press(browser, SECURITY, remove=str(pk), **typed)

    def test_decision_M44_it_signs_out_other_browsers_and_backup_codes_go(self, acme, user, inside, app):
        give_backup_codes(acme, user)
        other = factors.signed_in(acme, user, app)
        added = audit_log.last(acme, "Mfa.Create").payload

        answer = self.remove(acme, inside)

        assert answer.status_code == 303
        assert is_signed_in(inside)
        assert not is_signed_in(other)
        with acme.active():
            assert not Authenticator.objects.exists()
            assert not BackupCode.objects.exists()
        assert has_session(acme.browser().sign_in(user))
        removed = audit_log.last(acme, "Mfa.Delete").payload
        assert removed == {"id": added["id"], "type": "Totp", "name": added["name"]}

    def test_decision_M43_it_needs_a_fresh_proof(self, acme, inside):
        age(acme)

        answer = self.remove(acme, inside, password=PASSWORD)

        assert answer.headers["Location"].endswith("/confirm?back=account-security")
        with acme.active():
            assert Authenticator.objects.exists()

    def test_decision_M43_and_the_password(self, acme, inside):
        age(acme, factor=timedelta(0))

        assert self.remove(acme, inside, password="wrong").status_code == 401
        assert self.remove(acme, inside, password=PASSWORD).status_code == 303

    def join(self, acme, user):
        """Make a user a member of an organization that requires two factors. Return its path in the API."""
        admin = management.superuser(acme)
        made = admin.created("/organizations", name="Clinic", is_mfa_required=True)
        path = f"/organizations/{made['id']}"
        result_of(admin.post(f"{path}/users", user_ids=[str(user.pk)]))
        return admin, path

    def test_decision_M45_the_last_one_stays_where_a_policy_demands_one(self, acme, inside):
        switch_on(acme, "Totp", "BackupCode", policy="Mandatory")

        answer = self.remove(acme, inside)

        assert answer.status_code == 403
        assert "You need a second step to sign in here" in answer.text
        with acme.active():
            assert Authenticator.objects.exists()
        assert audit_log.entries(acme, "Mfa.Delete") == []

    def test_decision_M45_the_last_one_of_a_member_stays_where_organizations_demand_one(
        self, acme, user, inside
    ):
        switch_on(acme, "Totp", organization_required_mfa_policy="Mandatory")
        admin, path = self.join(acme, user)

        answers = [self.remove(acme, inside), press(inside, SECURITY, two_step="off")]

        assert [answer.status_code for answer in answers] == [403, 403]
        assert "Switch off" not in inside.get(SECURITY).text
        result_of(admin.delete(f"{path}/users/{user.pk}"))
        assert self.remove(acme, inside).status_code == 303

    def test_decision_M45_that_of_a_member_goes_where_organizations_ask_for_their_tokens_only(
        self, acme, user, inside
    ):
        self.join(acme, user)

        assert self.remove(acme, inside).status_code == 303

    def test_that_of_somebody_else_is_unknown(self, acme, rival, inside):
        other, stranger = acme.user(), rival.user()
        enrol(acme, other)
        switch_on(rival, "Totp")
        enrol(rival, stranger)
        with acme.active():
            ids = [Authenticator.objects.get(user=other).pk]
        with rival.active():
            ids.append(Authenticator.objects.get().pk)

        for pk in [*ids, "x"]:
            assert press(inside, SECURITY, remove=str(pk)).status_code == 404


class TestSwitching:
    def test_decision_M8_it_can_be_switched_off_and_on(self, acme, user):
        switch_on(acme, "Totp")
        browser = factors.signed_in(acme, user, enrol(acme, user))

        off = press(browser, SECURITY, two_step="off")
        assert has_session(acme.browser().sign_in(user))
        on = press(browser, SECURITY, two_step="on")

        assert (off.status_code, on.status_code) == (303, 303)
        assert not has_session(acme.browser().sign_in(user))
        assert audit_log.last(acme, "Mfa.SettingsUpdate").payload["two_step"] is True

    def test_decision_M8_but_not_off_where_a_policy_demands_it(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = factors.signed_in(acme, user, enrol(acme, user))

        answer = press(browser, SECURITY, two_step="off")

        assert answer.status_code == 403
        assert "Switch off" not in browser.get(SECURITY).text

    def test_decision_M16_a_verified_email_can_be_the_factor(self, acme):
        switch_on(acme, "EmailVerificationCode")
        codes.reachable(acme)
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        browser = acme.browser()
        browser.sign_in(user)

        answer = press(browser, SECURITY, two_step="on")

        assert answer.status_code == 303
        following = acme.browser().sign_in(user).json()["result"]["next"]
        assert [method["type"] for method in following["methods"]] == ["EmailVerificationCode"]

    def test_a_tenant_without_factors_has_no_page(self, acme, user):
        browser = acme.browser()
        browser.sign_in(user)

        assert browser.get(SECURITY).headers["Location"].endswith("/account")
        assert SECURITY not in browser.get("/account").text
        assert browser.get(ADD).status_code == 403


class TestBackupCodes:
    def test_decision_M44_new_ones_end_the_old_and_other_sessions(self, acme, user):
        switch_on(acme, "Totp", "BackupCode")
        app = enrol(acme, user)
        old = give_backup_codes(acme, user)
        browser, other = factors.signed_in(acme, user, app), factors.signed_in(acme, user, app)

        page = browser.get(CODES)
        shown = send(browser, CODES, page)

        assert "Your present backup codes stop working" in page.text
        assert shown.text.count("<li><code>") == 10
        assert old[0] not in shown.text
        assert not is_signed_in(other)
        assert "10 codes left" in browser.get(SECURITY).text

    def test_without_another_factor_there_are_none(self, acme, browser):
        assert browser.get(CODES).headers["Location"].endswith(SECURITY)


class TestOtherChanges:
    @pytest.fixture
    def inside(self, acme, user):
        switch_on(acme, "Totp")
        account.allow(acme, username_change=True, deletion=True)
        self.app = enrol(acme, user)
        browser = factors.signed_in(acme, user, self.app)
        age(acme)
        return browser

    @pytest.mark.parametrize("page", ["password", "email", "phone", "username", "data", "delete"])
    def test_decision_M43_each_needs_the_second_factor_too(self, acme, inside, page):
        asked = inside.get(f"/account/{page}")
        forced = inside.post(
            f"/account/{page}", data=forms(inside.get("/account/profile"))[0].fields | {"password": PASSWORD}
        )

        assert asked.headers["Location"].endswith(f"/confirm?back=account-{page}")
        assert forced.headers["Location"].endswith(f"/confirm?back=account-{page}")
        done = form(inside.get(asked.headers["Location"])).submit(inside, code=self.app.code())
        assert done.headers["Location"].endswith(f"/account/{page}")
        assert inside.get(f"/account/{page}").status_code == 200

    def test_decision_M55_the_download_lists_the_factors(self, acme, user, inside):
        with acme.active():
            Session.objects.update(second_factor_at=timezone.now())

        data = account.send(inside, "data", password=PASSWORD).json()

        (factor,) = data["second_factors"]
        assert factor.keys() == {"type", "name", "added_at", "last_used_at"}
        assert factor["type"] == "Totp"
        assert self.app.key.replace(" ", "") not in str(data)

    def test_a_wrong_code_confirms_nothing(self, acme, inside):
        page = inside.get("/confirm?back=account-password")

        wrong = form(page).submit(inside, code="000000")

        assert wrong.status_code == 401
        assert inside.get("/account/password").status_code == 303

    def test_it_leads_back_to_pages_of_the_account_only(self, acme, inside):
        page = inside.get("/confirm?back=https://elsewhere.example")

        done = form(page).submit(inside, code=self.app.code())

        assert done.headers["Location"].endswith("/account")

    def test_the_lock_counts_here_too(self, acme, inside):
        for _ in range(10):
            form(inside.get("/confirm")).submit(inside, code="000000")

        answer = form(inside.get("/confirm")).submit(inside, code=self.app.code())

        assert answer.status_code == 401
        assert answer.headers["Retry-After"]


def test_the_time_of_a_confirmation_is_that_of_the_setting(settings):
    settings.CONFIRM_SECONDS = 120

    [message] = error_messages.get_messages(SignInAgain())

    assert message == "Sign in again first. Then you have 2 minutes to make this change."


def test_a_page_says_for_how_long_a_new_sign_in_counts(acme):
    browser, user = cast.signed_in(acme)
    with acme.active():
        User.objects.filter(pk=user.pk).update(password="")
    age(acme)

    page = browser.get("/account/password")

    assert "Then you have 5 minutes to make this change." in page.text

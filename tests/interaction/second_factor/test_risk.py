"""Asking for the second factor because a sign-in is unusual, and the notice about a new browser."""

import re
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import Entry
from identity.factors import countries
from identity.factors.models import SignInCountry
from identity.users import assigned_passwords, email_domains, typed_identifiers
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import FormerEmail, User
from interaction.experience import services as experiences
from interaction.verification import outgoing
from tests.support import audit_log, management, second
from tests.support.cast import PASSWORD, World
from tests.support.codes import REGISTER, messages_to, new_email, new_phone, proven
from tests.support.factors import TOTP, enrol, half, has_session, switch_on
from tests.support.outgoing_messages import wait_until_sent
from tests.support.recovery_codes import issue, recover
from tests.support.remembered_browsers import is_asked, signed_out, trust

OFF = {
    "new_browser": False,
    "new_country": False,
    "inactive_days": 365,
    "recent_failures": 100,
}


def adapt(world: World, **rules):
    with world.active():
        experiences.change({"adaptive_mfa": {"enabled": True} | OFF | rules}, is_proven=True)


def sign_in(browser, user, app, **fields):
    half(browser, user)
    answer = browser.post(TOTP, json={"code": app.code(), **fields})
    assert has_session(answer), answer.text


@pytest.fixture
def app(acme, user):
    """The authenticator of a user who is asked for it only if a sign-in is unusual."""
    return enrol(switch_on(acme), user, two_step=False)


class TestRisk:
    def test_decision_M36_a_new_browser_is_asked_and_a_known_one_is_not(self, acme, user, app):
        adapt(acme, new_browser=True)
        browser = acme.browser()

        sign_in(browser, user, app)

        assert not is_asked(signed_out(browser), user)
        assert is_asked(acme.browser(), user)
        entry = audit_log.last(acme, "Risk.Detected")
        assert entry.payload["reasons"] == ["new_browser"]
        assert entry.user_id == str(user.pk)

    def test_decision_M36_next_tells_the_reason(self, acme, user, app):
        adapt(acme, new_browser=True)

        assert half(acme.browser(), user)["next"]["reasons"] == ["risk:new_browser"]

    def test_decision_M36_it_asks_nobody_without_a_factor(self, acme, user):
        switch_on(acme, "Totp")
        adapt(acme, new_browser=True)

        assert not is_asked(acme.browser(), user)

    def test_decision_M36_it_is_off_by_default(self, acme, user, app):
        assert not is_asked(acme.browser(), user)

    def test_decision_M36_a_remembered_browser_is_asked_too(self, acme, user, app):
        trust(acme)
        adapt(acme, new_browser=True)
        browser = acme.browser()
        sign_in(browser, user, app, remember=True)
        assert not is_asked(signed_out(browser), user)
        with acme.active():
            User.objects.filter(pk=user.pk).update(last_sign_in_at=timezone.now() - timedelta(days=9))
        adapt(acme, inactive_days=8)

        assert is_asked(signed_out(browser), user)

    def test_decision_M36_after_a_long_time(self, acme, user, app):
        adapt(acme, inactive_days=8)
        assert not is_asked(acme.browser(), user)
        with acme.active():
            User.objects.filter(pk=user.pk).update(last_sign_in_at=timezone.now() - timedelta(days=9))

        assert half(acme.browser(), user)["next"]["reasons"] == ["risk:inactive"]

    def test_decision_M36_after_failures(self, acme, user, app):
        adapt(acme, recent_failures=2)
        acme.browser().sign_in(user, password="wrong 1 password")
        for _ in range(2):  # a sign-in that succeeds does not count
            assert not is_asked(acme.browser(), user)
        acme.browser().sign_in(user, password="wrong 1 password")

        assert half(acme.browser(), user)["next"]["reasons"] == ["risk:recent_failures"]

    def test_decision_M36_only_failed_sign_ins_of_the_user_count(self, acme, user, app):
        adapt(acme, recent_failures=1)
        acme.browser().sign_in(acme.user(), password="wrong 1 password")
        taken = acme.post(REGISTER, json={"username": user.username, "password": PASSWORD})
        assert taken.status_code == 400

        assert not is_asked(acme.browser(), user)

    @pytest.mark.parametrize(("hours", "counts"), [(23, True), (25, False)])
    def test_decision_M36_failures_count_for_a_day(self, acme, user, app, hours, counts):
        adapt(acme, recent_failures=1)
        with acme.active():
            [key] = typed_identifiers.get_subject([user]).identifier_keys
        Entry.objects.create(
            tenant_id=acme.tenant.pk,
            key="SignIn.Password",
            payload={"result": "failed"},
            identifier_key=key,
            created_at=timezone.now() - timedelta(hours=hours),
        )

        assert is_asked(acme.browser(), user) is counts

    def test_decision_M36_a_risk_is_recorded_once_in_a_sign_in(self, acme, user, app):
        code = issue(management.superuser(acme), user)
        adapt(acme, new_browser=True)
        browser = acme.browser()
        half(browser, user)

        assert not has_session(recover(browser, code))

        assert len(audit_log.entries(acme, "Risk.Detected")) == 1

    def test_decision_M36_a_usual_sign_in_leaves_no_entry_of_a_risk(self, acme, user, app):
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)

        half(acme.browser(), user)

        assert not audit_log.entries(acme, "Risk.Detected")

    def test_decision_M36_where_no_country_is_known_none_is_stored(self, acme, user, app):
        adapt(acme, new_country=True)

        assert not is_asked(acme.browser(), user)

        with acme.active():
            assert not SignInCountry.objects.exists()

    @pytest.mark.parametrize("change", [{"recent_failures": 50}, {"enabled": False}])
    def test_decision_M36_the_reason_stays_until_the_factor_is_proven(self, acme, user, app, change):
        adapt(acme, recent_failures=1)
        acme.browser().sign_in(user, password="wrong 1 password")
        browser = acme.browser()
        half(browser, user)
        adapt(acme, **change)

        assert browser.post("/api/interaction/mfa/skip", json={}).status_code == 403
        assert has_session(browser.post(TOTP, json={"code": app.code()}))


@pytest.fixture(scope="module")
def proxied(address):
    """A server behind a proxy that the tests are, which tells the country."""
    with second.running(TRUSTED_PROXIES="127.0.0.1", COUNTRY_HEADER="X-Country") as running:
        yield running


class TestCountries:
    def at(self, world, address, country):
        browser = world.at(address).browser()
        browser.http.headers["X-Country"] = country
        return browser

    def test_decision_M36_a_new_country_is_asked(self, acme, user, app, proxied):
        adapt(acme, new_country=True)
        assert not is_asked(self.at(acme, proxied, "DE"), user)  # nothing to compare with

        assert not is_asked(self.at(acme, proxied, "de"), user)
        assert not is_asked(self.at(acme, proxied, "XX"), user)
        answer = half(self.at(acme, proxied, "FR"), user)

        assert answer["next"]["reasons"] == ["risk:new_country"]

    def test_decision_M36_the_tor_network_counts_as_a_country(self, acme, user, app, proxied):
        adapt(acme, new_country=True)
        assert not is_asked(self.at(acme, proxied, "DE"), user)

        answer = half(self.at(acme, proxied, "T1"), user)

        assert answer["next"]["reasons"] == ["risk:new_country"]

    def test_decision_M36_a_new_country_is_not_asked_where_only_failures_count(
        self, acme, user, app, proxied
    ):
        adapt(acme)
        assert not is_asked(self.at(acme, proxied, "DE"), user)

        assert not is_asked(self.at(acme, proxied, "FR"), user)

    def test_decision_M36_no_country_is_stored_while_it_is_off(self, acme, user, app, proxied):
        trust(acme)

        assert not is_asked(self.at(acme, proxied, "DE"), user)

        with acme.active():
            assert not SignInCountry.objects.exists()

    def test_decision_M36_a_country_is_believed_from_a_proxy_only(self, acme, user, app):
        adapt(acme, new_country=True)
        with acme.active():
            countries.record(user, "DE")
        browser = acme.browser()
        browser.http.headers["X-Country"] = "FR"

        assert not is_asked(browser, user)


class TestTheNotice:
    @pytest.fixture
    def mailed(self, reachable):
        return reachable.user(email=new_email(), email_verified=True)

    def test_decision_M36_a_sign_in_from_a_new_browser_is_mailed(self, reachable, mailed):
        switch_on(reachable, "Totp")
        browser = reachable.browser()
        browser.http.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Firefox/130.0"
        assert not is_asked(browser, mailed)
        assert not is_asked(signed_out(browser), mailed)

        [message] = notices_to(mailed.email, 1)

        assert message["interaction_type"] == "notice_new_sign_in"
        text = message["body"]
        assert "Browser: Firefox on Linux" in text
        assert "Network address: 127.0.0.1" in text
        assert re.search(r"Time: \d+ \w+ \d{4}, \d\d:\d\d UTC", text)
        assert "If this wasn't you" in text
        assert "http" not in text

    def test_decision_M36_not_without_factors_and_not_if_it_is_off(self, reachable, mailed):
        assert not is_asked(reachable.browser(), mailed)
        switch_on(reachable, "Totp")
        with reachable.active():
            experiences.change({"account": {"sign_in_notice": False}}, is_proven=True)
        assert not is_asked(reachable.browser(), mailed)

        assert is_told_nothing(reachable, mailed.email)

    def test_decision_M36_not_after_a_registration(self, reachable):
        switch_on(reachable, "Totp")
        with reachable.active():
            experiences.change({"sign_up": {"identifiers": ["email"], "verify": True}}, is_proven=True)
        browser, email = reachable.browser(), new_email()
        proven(browser, email, "register")

        assert has_session(browser.post(REGISTER, json={"email": email, "password": PASSWORD}))

        assert is_told_nothing(reachable, email)

    def test_decision_M36_not_if_it_is_off_where_browsers_are_remembered(self, reachable, mailed):
        switch_on(reachable, "Totp")
        trust(reachable)
        with reachable.active():
            experiences.change({"account": {"sign_in_notice": False}}, is_proven=True)

        assert not is_asked(reachable.browser(), mailed)

        assert is_told_nothing(reachable, mailed.email)

    def test_decision_M36_not_as_a_text_message(self, reachable):
        switch_on(reachable, "Totp")
        user = reachable.user(phone=new_phone(), phone_verified=True)

        assert not is_asked(reachable.browser(), user)

        assert is_told_nothing(reachable, user.phone)

    def test_decision_M54_the_old_address_is_told_for_a_week(self, reachable, mailed):
        old, new = mailed.email, new_email()
        with reachable.active():
            users.change(mailed, {"email": new}, is_proven=True)
            assigned_passwords.set_password(mailed, "an other 1 entirely", is_proven=True)
        assert [one["interaction_type"] for one in notices_to(old, 1)] == ["notice_password_changed"]
        assert [one["interaction_type"] for one in notices_to(new, 1)] == ["notice_password_changed"]
        with reachable.active():
            FormerEmail.objects.update(replaced_at=timezone.now() - timedelta(days=8))
            assigned_passwords.set_password(
                User.objects.get(pk=mailed.pk), "a third 1 entirely", is_proven=True
            )

        assert len(notices_to(new, 2)) == 2
        assert len(notices_to(old, 1)) == 1

    def test_attack_a_decoy_account_has_the_old_address(self, reachable, mailed):
        old = mailed.email
        with reachable.active():
            users.change(mailed, {"email": new_email()}, is_proven=True)
        decoy = {"username": "decoy", "email": old, "password": "an other 1 entirely"}
        assert reachable.browser().post(REGISTER, json=decoy).status_code == 200
        with reachable.active():
            assigned_passwords.set_password(mailed, "an other 1 entirely", is_proven=True)

        assert [one["interaction_type"] for one in notices_to(old, 1)] == ["notice_password_changed"]

    def test_attack_the_new_address_has_the_same_key(self, reachable):
        local = new_email().partition("@")[0]
        old, new = f"{local}@straße.example", f"{local}@strasse.example"
        user = reachable.user(email=old)
        with reachable.active():
            users.change(user, {"email": new}, proven=Kind.EMAIL, is_proven=True)
            assigned_passwords.set_password(user, "an other 1 entirely", is_proven=True)

        assert len(notices_to(new, 1)) == 1
        assert len(notices_to(str(email_domains.encode_address(old)), 1)) == 1

    def test_the_new_address_differs_only_in_case(self, reachable):
        old = new_email()
        user = reachable.user(email=old)
        with reachable.active():
            users.change(user, {"email": old.upper()}, proven=Kind.EMAIL, is_proven=True)
            assigned_passwords.set_password(user, "an other 1 entirely", is_proven=True)

        assert len(notices_to(old.upper(), 1)) == 1
        assert is_told_nothing(reachable, old)

    def test_nobody_is_told_whose_old_address_another_user_has_proven(self, reachable, mailed):
        old = mailed.email
        with reachable.active():
            users.change(mailed, {"email": new_email()}, is_proven=True)
        reachable.user(email=old)
        with reachable.active():
            assigned_passwords.set_password(mailed, "an other 1 entirely", is_proven=True)

        assert is_told_nothing(reachable, old)


def is_told_nothing(world, address):
    """Whether no notice went to an address, once everything is sent."""
    outgoing.send_due()
    wait_until_sent(world)
    return notices_to(address, 0) == []


def notices_to(address, number):
    """The notices to an address, once there are so many."""
    outgoing.send_due()
    for _ in range(50):
        found = [one for one in messages_to(address) if one["interaction_type"].startswith("notice_")]
        if len(found) >= number:
            break
        time.sleep(0.1)
    return found

"""An account elsewhere with a user's address is one factor, and not the second."""

import time

import pytest

from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.social.models import SocialIdentity
from tests.support import account, audit_log, codes, factors, social
from tests.support.factors import NEXT, SEND, TOTP
from tests.support.forms import form

EMAIL_CODE = "EmailVerificationCode"
CONFIRM = "/api/my-account/confirm"


@pytest.fixture
def email():
    return codes.new_email()


@pytest.fixture
def user(acme, provider, email):
    """A user for whom a code by email could be the second factor, and an account elsewhere the first."""
    codes.reachable(acme)
    factors.switch_on(acme, "Totp", EMAIL_CODE)
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    user = social.with_proven_email(acme, email)
    with acme.active():
        User.objects.filter(pk=user.pk).update(two_step=True)
    return user


def methods_of(browser):
    return [method["type"] for method in browser.get(NEXT).json()["result"]["methods"]]


def without_two_step(acme, provider, user, email):
    """An authenticator for a user whose linked account alone is enough to sign in."""
    with acme.active():
        User.objects.filter(pk=user.pk).update(two_step=False)
    social.came(acme.browser(), provider, sub="somebody", email=email, email_verified=True)
    with acme.active():
        Session.objects.all().delete()
    return factors.enrol(acme, user, two_step=False)


def test_case_MT38_an_account_elsewhere_with_the_same_email_is_asked_for_the_factor(acme, provider):
    factors.switch_on(acme)
    email = codes.new_email()
    user = social.with_proven_email(acme, email)
    factors.enrol(acme, user)
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    browser = acme.browser()

    answer = social.came(browser, provider, sub="somebody", email=email, email_verified=True)

    assert answer.headers["Location"].endswith("/sign-in/second-factor")
    assert not factors.has_session(answer)
    assert not factors.is_signed_in(browser)
    with acme.active():
        assert not Session.objects.exists()


@pytest.mark.parametrize("policy", ["NoPrompt", "Mandatory"])
def test_case_MT38_before_it_is_linked_also_where_the_provider_is_trusted(acme, provider, policy):
    """The owner of the mailbox may have created the account. Once it is linked, nobody is asked."""
    factors.switch_on(acme, social="skip", policy=policy)
    email = codes.new_email()
    app = factors.enrol(acme, social.with_proven_email(acme, email))
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    browser, later = acme.browser(), acme.browser()

    first = social.came(browser, provider, sub="somebody", email=email, email_verified=True)
    with acme.active():
        before = (Session.objects.count(), SocialIdentity.objects.count())
    proven = browser.post(TOTP, json={"code": app.code()})
    second = social.came(later, provider, sub="somebody", email=email, email_verified=True)

    assert first.headers["Location"].endswith("/sign-in/second-factor")
    assert before == (0, 0)
    assert factors.has_session(proven)
    assert factors.has_session(second)
    assert audit_log.last(acme, "SignIn.FirstFactor").payload["way"] == "linking"
    assert len(audit_log.entries(acme, "SignIn.Social")) == 2


@pytest.mark.parametrize("rule", ["ask", "skip"])
def test_attack_AV36_an_account_is_linked_with_both_factors_while_two_step_sign_in_is_off(
    acme, provider, user, email, rule
):
    """Later the owner switches it on, and the tenant leaves second factors to the provider."""
    factors.switch_on(acme, "Totp", social=rule)
    app = factors.enrol(acme, user, two_step=False)
    thief, owner, later = acme.browser(), acme.browser(), acme.browser()

    first = social.came(thief, provider, sub="somebody", email=email, email_verified=True)
    with acme.active():
        before = (Session.objects.count(), SocialIdentity.objects.count())
        User.objects.filter(pk=user.pk).update(two_step=True)
    factors.switch_on(acme, "Totp", social="skip")
    again = social.came(thief, provider, sub="somebody", email=email, email_verified=True)
    social.came(owner, provider, sub="somebody", email=email, email_verified=True)
    proven = owner.post(TOTP, json={"code": app.code()})
    linked = social.came(later, provider, sub="somebody", email=email, email_verified=True)

    for answer in (first, again):
        assert answer.headers["Location"].endswith("/sign-in/second-factor")
        assert not factors.has_session(answer)
    assert before == (0, 0)
    assert factors.has_session(proven)
    assert factors.has_session(linked)


def test_attack_AV36_a_remembered_browser_links_no_account(acme, provider, user, email):
    """A remembered browser spares its user the factor there. A linked account signs in everywhere."""
    app = factors.enrol(acme, user)
    with acme.active():
        experiences.change({"trusted_device_policy": {"enabled": True, "duration_days": 30}}, is_proven=True)
    browser = acme.browser()
    factors.half(browser, user)
    browser.post(TOTP, json={"code": app.code(), "remember": True})
    remembered = browser.sign_in(user)

    answer = social.came(browser, provider, sub="somebody", email=email, email_verified=True)

    assert factors.has_session(remembered)
    assert answer.headers["Location"].endswith("/sign-in/second-factor")
    with acme.active():
        assert not SocialIdentity.objects.exists()
    assert factors.has_session(browser.post(TOTP, json={"code": app.code()}))


def test_decision_M15_a_user_who_only_has_a_mailbox_is_not_asked_before_linking(acme, provider, user, email):
    """The code would go to the mailbox that the account may come from."""
    with acme.active():
        User.objects.filter(pk=user.pk).update(two_step=False)

    answer = social.came(acme.browser(), provider, sub="somebody", email=email, email_verified=True)

    assert factors.has_session(answer)


@pytest.mark.parametrize("has_account", [True, False])
def test_decision_M15_a_user_without_a_factor_is_not_asked_where_the_provider_is_trusted(
    acme, provider, has_account
):
    factors.switch_on(acme, "Totp", social="skip", policy="Mandatory")
    email = codes.new_email()
    if has_account:
        social.with_proven_email(acme, email)
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)

    answer = social.came(acme.browser(), provider, sub="somebody", email=email, email_verified=True)

    assert factors.has_session(answer)


def test_case_MT37_an_account_elsewhere_and_its_mailbox_are_not_two_factors(acme, provider, user, email):
    factors.enrol(acme, user)
    browser = acme.browser()

    social.came(browser, provider, sub="somebody", email=email, email_verified=True)
    sent = browser.post(SEND, json={"type": EMAIL_CODE})

    assert methods_of(browser) == ["Totp"]
    assert sent.status_code == 403


def test_decision_M21_an_account_elsewhere_that_keeps_its_email_back_has_the_last_one(
    acme, provider, user, email
):
    app, earlier = factors.enrol(acme, user), acme.browser()
    social.came(earlier, provider, sub="somebody", email=email, email_verified=True)
    assert factors.has_session(earlier.post(TOTP, json={"code": app.code()}))
    browser = acme.browser()

    social.came(browser, provider, sub="somebody")

    assert methods_of(browser) == ["Totp"]


def test_case_MT37_decision_M21_a_session_of_an_account_elsewhere_and_its_mailbox_confirm_nothing(
    acme, provider, user, email
):
    """The owner has an authenticator, and has switched two-step sign-in off."""
    app = without_two_step(acme, provider, user, email)
    thief = acme.browser()
    social.came(thief, provider, sub="somebody", email=email, email_verified=True)
    assert factors.is_signed_in(thief)

    sent = thief.post(SEND, json={"type": EMAIL_CODE})
    by_mail = thief.post(CONFIRM, json={"type": EMAIL_CODE, "code": "123456"})

    assert (sent.status_code, by_mail.status_code) == (403, 403)
    with acme.active():
        assert Session.objects.get().level == 1
    assert thief.post(CONFIRM, json={"type": "Totp", "code": app.code()}).status_code == 200


@pytest.mark.parametrize("own_email", [True, False])
def test_case_MT37_decision_M21_unlinking_the_account_makes_the_mailbox_no_factor(
    acme, provider, user, email, own_email
):
    app = without_two_step(acme, provider, user, email)
    thief = acme.browser()
    named = email if own_email else codes.new_email()
    social.came(thief, provider, sub="somebody", email=named, email_verified=True)
    assert factors.is_signed_in(thief)
    with acme.active():
        identity = SocialIdentity.objects.get()

    page = form(thief.get("/account/linked"))
    unlinked = thief.post("/account/linked", data=page.fields | {"unlink": str(identity.pk)})
    sent = thief.post(SEND, json={"type": EMAIL_CODE})
    by_mail = thief.post(CONFIRM, json={"type": EMAIL_CODE, "code": "123456"})

    assert unlinked.status_code == 303
    with acme.active():
        assert not SocialIdentity.objects.exists()
    assert (sent.status_code, by_mail.status_code) == (403, 403)
    assert thief.post(CONFIRM, json={"type": "Totp", "code": app.code()}).status_code == 200


def test_case_MT37_decision_M21_an_account_elsewhere_whose_email_was_changed_there_leaves_no_mailbox(
    acme, provider, user, email
):
    app, earlier = factors.enrol(acme, user), acme.browser()
    social.came(earlier, provider, sub="somebody", email=email, email_verified=True)
    assert factors.has_session(earlier.post(TOTP, json={"code": app.code()}))
    later = acme.browser()

    social.came(later, provider, sub="somebody", email=codes.new_email(), email_verified=True)

    assert methods_of(later) == ["Totp"]
    assert later.post(SEND, json={"type": EMAIL_CODE}).status_code == 403


def test_decision_M21_who_has_no_other_factor_gets_a_code_by_email(acme, provider, user, email):
    browser = acme.browser()

    social.came(browser, provider, sub="somebody", email=email, email_verified=True)

    assert methods_of(browser) == [EMAIL_CODE]


def test_case_MT37_decision_M21_a_first_password_of_an_account_elsewhere_and_the_mailbox_are_not_two_factors(
    acme, provider, user, email
):
    account.change(acme, user, password="", two_step=False)
    browser, now = acme.browser(), int(time.time())
    social.came(browser, provider, sub="somebody", email=email, email_verified=True, auth_time=now)
    assert account.send(browser, "password", new_password=account.NEW).status_code == 303
    factors.enrol(acme, user)
    with acme.active():
        User.objects.filter(pk=user.pk).update(two_step=True)

    result = factors.half(acme.browser(), user, password=account.NEW)

    assert [method["type"] for method in result["next"]["methods"]] == ["Totp"]

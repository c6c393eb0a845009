"""What a person does with second factors, from the first set-up to the last way in, by HTTP alone."""

import pytest

from tests.support import codes, management, passkeys
from tests.support.factors import (
    BACKUP,
    NEXT,
    SEND,
    SET_UP,
    SET_UP_CODES,
    SET_UP_VERIFY,
    TOTP,
    VERIFY,
    App,
    half,
    has_session,
    is_signed_in,
)
from tests.support.management import result_of

RECOVERY = "/api/interaction/mfa/recovery-code"
EMAIL = "EmailVerificationCode"
FACTORS = ["WebAuthn", "Totp", "BackupCode"]


@pytest.fixture
def admin(reachable):
    """Requires a second factor of everybody."""
    admin = management.superuser(reachable)
    mfa = {"factors": FACTORS, "policy": "Mandatory"}
    result_of(admin.patch("/sign-in-experience", mfa=mfa, passkey_sign_in={"enabled": True}))
    return admin


@pytest.fixture
def user(reachable, admin, email):
    return reachable.user(email=email, email_verified=True)


@pytest.fixture
def person(reachable, admin, user):
    """A person who has just set up an authenticator, with the browser, the app and the backup codes.

    From then on, a code by email is a second factor, too.
    """
    browser = reachable.browser()
    half(browser, user)
    app, spare = set_up(browser)
    result_of(admin.patch("/sign-in-experience", mfa={"factors": [*FACTORS, EMAIL]}))
    return browser, app, spare


def set_up(browser):
    offer = result_of(browser.post(SET_UP, json={}))
    app = App(offer["secret"])
    done = browser.post(SET_UP_VERIFY, json={"enrolment": offer["enrolment"], "code": app.code()})
    assert has_session(done), done.text
    spare = result_of(browser.post(SET_UP_CODES, json={}))["codes"]
    return app, spare


def test_decision_M66_each_second_factor_signs_in(reachable, user, email, person):
    first, app, spare = person
    assert is_signed_in(first)
    key = passkeys.device()
    created = passkeys.create(first, key)
    assert created.status_code == 200, created.text

    ways = {
        "WebAuthn": lambda browser: passkeys.use(browser, key, "second_factor"),
        "Totp": lambda browser: browser.post(TOTP, json={"code": app.code()}),
        "BackupCode": lambda browser: browser.post(BACKUP, json={"code": spare[0]}),
        EMAIL: lambda browser: by_email(browser, email),
    }

    answers = {}
    for way, prove in ways.items():
        browser = reachable.browser()
        half(browser, user)
        answers[way] = has_session(prove(browser))
    alone = passkeys.use(reachable.browser(), key)

    assert answers == dict.fromkeys(ways, True)
    assert has_session(alone)


def by_email(browser, email):
    result_of(browser.post(SEND, json={"type": EMAIL}))
    return browser.post(VERIFY, json={"type": EMAIL, "code": code_to(email)})


def code_to(email):
    """The first code that was sent to an address, among the notices."""
    number = 1
    while not codes.message_to(email, number=number)["code"]:
        number += 1
    return codes.message_to(email, number=number)["code"]


def test_decision_M66_who_lost_every_factor_gets_in_with_a_recovery_code(reachable, admin, user, person):
    _, lost, _ = person
    code = result_of(admin.post(f"/users/{user.pk}/recovery-codes"))["code"]
    browser = reachable.browser()
    half(browser, user)

    recovered = result_of(browser.post(RECOVERY, json={"code": code}))
    before = is_signed_in(browser)
    app, _ = set_up(browser)

    assert recovered["next"]["step"] == "set_up"
    assert not before
    later = reachable.browser()
    half(later, user)
    assert later.post(TOTP, json={"code": lost.code()}).status_code == 401
    assert has_session(later.post(TOTP, json={"code": app.code()}))


def test_decision_M66_who_lost_every_factor_gets_in_after_a_reset(reachable, admin, user, person):
    first, *_ = person
    result_of(admin.patch("/sign-in-experience", mfa={"factors": FACTORS}))
    result_of(admin.delete(f"/users/{user.pk}/mfa-verifications"))
    browser = reachable.browser()

    step = half(browser, user)["next"]["step"]
    set_up(browser)

    assert step == "set_up"
    assert not is_signed_in(first)
    assert is_signed_in(browser)


def test_decision_M66_without_a_factor_the_mailbox_alone_opens_nothing(reachable, user, email, person):
    """After a code by email as the first factor, a code to the same mailbox is no second factor."""
    thief = reachable.browser()
    codes.send(thief, email)
    codes.enter(thief, email, code_to(email))

    found = result_of(thief.get(NEXT))
    second = thief.post(SEND, json={"type": EMAIL})

    assert EMAIL not in {method["type"] for method in found["methods"]}
    assert second.status_code == 403
    assert not is_signed_in(thief)

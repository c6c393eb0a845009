"""Register, recover and sign in with an identifier that two people claim."""

from identity.users.models import User
from tests.support import codes
from tests.support.cast import Browser, World

ATTACKERS = "Attack3rpass!"
VICTIMS = "Vict1mpassword"
SIGN_IN = "/api/interaction/sign-in"


def registered(world: World, **fields: str) -> Browser:
    """Register without proving anything, and stay signed in."""
    browser = world.browser()
    answer = browser.post(codes.REGISTER, json={"username": "mallory", "password": ATTACKERS} | fields)
    assert answer.status_code == 200, answer.text
    return browser


def recovered(world: World, mail: str) -> Browser:
    """Choose a new password with a code, and sign in with it."""
    browser = world.browser()
    codes.proven(browser, mail, "forgot_password")
    answer = browser.post(codes.RESET, json={"identifier": mail, "new_password": VICTIMS})
    assert answer.status_code == 200, answer.text
    assert passes(browser, mail, VICTIMS)
    return browser


def came_by_code(world: World, identifier: str, *, number: int = 1) -> Browser:
    browser = world.browser()
    code = codes.sent(browser, identifier, number=number)
    answer = codes.enter(browser, identifier, code)
    assert answer.status_code == 200, answer.text
    return browser


def passes(browser: Browser, identifier: str, password: str) -> bool:
    answer = browser.post(SIGN_IN, json={"identifier": identifier, "password": password})
    assert answer.status_code in {200, 401}, answer.text
    return answer.status_code == 200


def stored(world: World, **of: str) -> User:
    with world.active():
        return User.objects.get(**of)

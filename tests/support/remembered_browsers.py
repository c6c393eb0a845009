"""Browsers in which a user is not asked for a second factor again."""

from interaction.experience import services as experiences
from tests.support.factors import TOTP, half, has_session

MINE = "/api/my-account/trusted-devices"


def trust(world, *, days=30, is_on=True):
    with world.active():
        experiences.change(
            {"trusted_device_policy": {"enabled": is_on, "duration_days": days}}, is_proven=True
        )


def remembering(world, user, app):
    """A browser in which the user asked not to be asked again, and is signed in with both factors."""
    browser = world.browser()
    assert half(browser, user)["next"]["may_remember"] is True
    answer = browser.post(TOTP, json={"code": app.code(), "remember": True})
    assert has_session(answer), answer.text
    return browser


def signed_out(browser):
    """The same browser, of which only the cookie of known users is left."""
    return with_cookie(browser.world.browser(), known(browser))


def is_asked(browser, user):
    """Sign in again, and return whether the second factor is asked for."""
    answer = browser.sign_in(user)
    assert answer.status_code == 200, answer.text
    return not has_session(answer)


def known(browser):
    """The cookie of a browser, by its name."""
    return next(item for item in browser.http.cookies.jar if "gatehouse-known" in item.name)


def with_cookie(browser, cookie, name=""):
    browser.http.cookies.set(name or cookie.name, cookie.value)
    return browser

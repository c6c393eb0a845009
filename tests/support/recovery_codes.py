"""Issue a recovery code for a user, and sign in with it."""

from tests.support.management import result_of

RECOVER = "/api/interaction/mfa/recovery-code"


def issue(admin, user, **fields):
    answer = admin.post(f"/users/{user.pk}/recovery-codes", **fields)
    result = result_of(answer)
    assert result.keys() == {"code", "expires_at"}
    assert answer.headers["Cache-Control"] == "no-store"
    return result["code"]


def recover(browser, code):
    return browser.post(RECOVER, json={"code": code})

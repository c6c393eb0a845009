"""The requests with which users manage their own second factors."""

from uuid import uuid4

from tests.support.factors import SET_UP, App
from tests.support.management import result_of

FACTORS = "/api/my-account/mfa-verifications"
SETTINGS = "/api/my-account/mfa-settings"
CONFIRM = "/api/my-account/confirm"
NOBODY = str(uuid4())


def send(browser, method, path, body=None, **headers):
    return browser.http.request(method, f"{browser.world.address}{path}", json=body, headers=headers)


def rename(browser, factor_id, name, **headers):
    return send(browser, "PATCH", f"{FACTORS}/{factor_id}", {"name": name}, **headers)


def remove(browser, factor_id, **headers):
    return send(browser, "DELETE", f"{FACTORS}/{factor_id}", **headers)


def listed(browser):
    return result_of(browser.get(FACTORS))


def begin(browser):
    offer = result_of(browser.post(SET_UP, json={}))
    return App(offer["secret"]), offer["enrolment"]


def add_authenticator(browser, name="Phone"):
    app, enrolment = begin(browser)
    body = {"type": "Totp", "enrolment": enrolment, "code": app.code(), "name": name}
    return app, result_of(browser.post(FACTORS, json=body))

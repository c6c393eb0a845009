"""Passkeys of administrators: the correct and wrong requests of the script of the operators' site."""

import json
import re
from typing import Any

from django.test import Client

from management.administrators.models import Administrator
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, text_of
from tests.support.passkey_device import Device

OWN, NEW = "/admin/passkeys/", "/admin/passkeys/new/"
LOGIN = "/admin/login/"
SIGN_IN, SIGN_IN_OPTIONS = "/admin/login/passkey/", "/admin/login/passkey/options/"
STORE, STORE_OPTIONS = f"{NEW}store/", f"{NEW}options/"


def browser_of(who: Administrator) -> Operator:
    """Return a browser in which nobody is signed in, and whose forms are bound to it."""
    return Operator(who, Client(enforce_csrf_checks=True))


def post(operator: Operator, path: str, body: object, page: str = LOGIN) -> Any:
    """Send a request as the script of a page does."""
    shown = text_of(operator.get(page))
    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', shown)
    content = body if isinstance(body, bytes) else json.dumps(body)
    headers = {"X-CSRFToken": token[0] if token else ""}
    return operator.http.post(path, content, content_type="application/json", headers=headers)


def ask(operator: Operator, path: str = SIGN_IN_OPTIONS, page: str = LOGIN) -> dict[str, Any]:
    answer = post(operator, path, {"ceremony": "sign_in"}, page)
    assert answer.status_code == 200, text_of(answer)
    return dict(answer.json()["result"]["public_key"])


def sign_in(operator: Operator, device: Device, **wrong: Any) -> Any:
    """Sign in with the newest passkey of a device."""
    return post(operator, SIGN_IN, {"credential": device.get(ask(operator), **wrong)})


def prove(operator: Operator, password: str = PASSWORD, **typed: str) -> Any:
    return operator.submit(NEW, password=password, **typed)


def add(operator: Operator, device: Device, name: str = "Phone", **wrong: Any) -> Any:
    """Create a passkey on the page that the password has opened."""
    options = ask(operator, STORE_OPTIONS, NEW)
    return post(operator, STORE, {"credential": device.create(options, **wrong), "name": name}, NEW)


def enrol(operator: Operator, device: Device, name: str = "Phone", **typed: str) -> None:
    """Give a signed-in administrator a passkey."""
    proven = prove(operator, **typed)
    assert proven.status_code == 303, text_of(proven)
    answer = add(operator, device, name)
    assert answer.status_code == 200, text_of(answer)

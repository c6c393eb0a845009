"""The two-step verification page of an administrator."""

import re

from tests.support import authenticator
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, text_of

LOGIN, CODE, PAGE = "/admin/login/", "/admin/login/code/", "/admin/two-step/"


def key_on(page):
    (key,) = re.findall(r"<dt>Key</dt><dd><code>([A-Z2-7 ]+)</code>", page)
    return key


def codes_on(page):
    return re.findall(r"<li><code>([A-Z2-7-]+)</code></li>", page)


def set_up(operator):
    """Set up two-step verification, and return the key of the authenticator and the recovery codes."""
    key = key_on(text_of(operator.get(PAGE)))
    answer = operator.submit(PAGE, password=PASSWORD, code=authenticator.code(key))
    assert answer.status_code == 303, text_of(answer)
    return key, codes_on(text_of(operator.get(answer.headers["Location"])))


def again(operator):
    """Return another browser of the same administrator, after the password."""
    other = Operator(operator.who)
    answer = other.sign_in()
    assert answer.headers["Location"].startswith(f"{CODE}?next=")
    return other


def is_in(operator):
    return operator.get("/admin/tenant/").status_code == 200

"""Redirects after forms of the operators' site: 303, for each form and each target."""

from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.urls import reverse

from tests.support import cast, operators
from tests.support.cast import PASSWORD, World
from tests.support.operators import Operator

NEW_PASSWORD = f"new-{cast.new_secret()}"
USERS = "/admin/users/user/"
# The forms that are no operations, in the order in which an administrator sends them, and where they lead.
# tests/management/administrators has those of invitations, links in mails and single sign-on,
# test_two_step.py those of the second step, and test_admin_redirects.py those of operations.
SHOWN_BY = {"hide a secret": "/admin/", "sign out": "/admin/tenant/", "signed out": "/admin/login/"}
WALK: dict[str, tuple[str, dict[str, Any], str]] = {
    "choose a tenant": ("/admin/tenant/", {"tenant": "{tenant}", "next": "/admin/why/"}, "/admin/why/"),
    "preferences": ("/admin/preferences/", {"time_zone": "Europe/Berlin"}, "/admin/preferences/"),
    "suspend in bulk": (
        USERS, {"action": "suspend", ACTION_CHECKBOX_NAME: "{user}", "confirmed": "yes"}, USERS,
    ),
    "bulk without a row": (USERS, {"action": "suspend", "index": "0"}, USERS),
    "hide a secret": (
        "/admin/shown-once/01890a5d-ac96-774b-bcce-b302099a8057/done/", {"next": USERS}, USERS,
    ),
    "password": ("/admin/password/", {"current": PASSWORD, "password": NEW_PASSWORD}, "/admin/login/"),
    "sign in": ("/admin/login/", {"username": "{name}", "password": NEW_PASSWORD}, "/admin/"),
    "sign out": ("/admin/logout/", {}, "/admin/login/"),
    "signed out": (USERS, {}, f"/admin/login/?next={USERS}"),
}  # fmt: skip


def test_each_form_that_is_sent_is_answered_with_303(acme: World):
    operator = operators.at(acme)
    values = {"tenant": acme.tenant.pk, "user": str(acme.user().pk), "name": operator.who.username}
    wrong = []

    for step, (path, typed, to) in WALK.items():
        sent = {name: text.format(**values) for name, text in typed.items()}
        answer = operator.submit(path, page=SHOWN_BY.get(step, ""), **sent)
        if (answer.status_code, answer.headers.get("Location", "").removeprefix("http://")) != (303, to):
            wrong.append(f"{step}: {answer.status_code} {answer.headers.get('Location')}")

    assert "\n".join(wrong) == ""


@pytest.mark.parametrize("is_in", [True, False])
def test_no_page_answers_a_form_with_302(acme: World, is_in: bool):
    somebody = operators.at(acme) if is_in else Operator(operators.administrator())
    fields = operators_fields(somebody)

    answers = {path: somebody.http.post(path, data=fields).status_code for path in paths()}

    assert {path for path, status in answers.items() if status == 302} == set()
    assert 303 in answers.values()


def operators_fields(somebody: Operator) -> dict[str, str]:
    """The hidden fields that every form has."""
    token = (
        somebody.get("/admin/" if somebody.tenant else "/admin/login/")
        .text.partition('name="csrfmiddlewaretoken" value="')[2]
        .partition('"')[0]
    )
    return {"csrfmiddlewaretoken": token, "drawn_for": somebody.tenant}


def paths() -> list[str]:
    """The paths of all pages of the site whose address has no parts that vary. Signing out is the last."""
    named = [(str(getattr(url, "name", None) or ""), str(url.pattern)) for url in site.get_urls()]
    own = [name for name, pattern in named if name and "<" not in pattern]
    lists = [f"{kind.opts.app_label}_{kind.opts.model_name}_changelist" for kind in operators.pages()]
    return [reverse(f"admin:{name}") for name in sorted({*own, *lists} - {"logout"})] + [
        reverse("admin:logout")
    ]

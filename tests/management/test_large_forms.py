"""Forms of the operators' site that are too large, and what their pages say to do."""

import pytest

from tests.support.cast import World
from tests.support.operators import Operator

PAGES = {
    "import": ("/admin/users/user/do/import/", "manage.py import_users"),
    "a file": ("/admin/experience/signinexperience/x/do/look/", "choose a smaller file, or shorten the text"),
    "a text": ("/admin/experience/signinexperience/x/do/message/", "Go back and shorten the text."),
}


@pytest.mark.parametrize("case", PAGES)
def test_the_page_says_what_to_do_about_this_form(acme: World, operator: Operator, case: str):
    path, advice = PAGES[case]
    large = "x" * (1024 * 1024)

    if case == "a text":
        answer = operator.http.post(path, data={"text": large})
    else:
        answer = operator.http.post(path, files={"file": ("large.bin", large.encode())})

    assert answer.status_code == 413
    assert "A form and its files can have 1024 KiB together." in answer.text
    assert advice in answer.text
    assert ("import_users" in answer.text) == (case == "import")


def test_without_a_session_it_says_to_sign_in(acme: World):
    answer = Operator(None).http.post("/admin/users/user/do/create/", data={"name": "x" * 65_536})  # type: ignore[arg-type]

    assert answer.status_code == 413
    assert "You are signed out" in answer.text


def test_a_form_with_too_many_fields_says_so(acme: World, operator: Operator):
    operator.get("/admin/")  # sets the cookie of the CSRF check
    answer = operator.http.post("/admin/roles/role/do/create/", data={f"field-{n}": "x" for n in range(1001)})
    visitor = Operator(None)  # type: ignore[arg-type]
    visitor.get("/sign-in")  # sets the cookie of the CSRF check
    elsewhere = visitor.http.post("/sign-in", data={f"field-{n}": "x" for n in range(1001)})

    assert answer.status_code == 400
    assert "A form can have 1000 fields." in answer.text
    assert elsewhere.status_code == 400
    assert "management API" not in elsewhere.text

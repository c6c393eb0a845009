"""The commands of other pages than the how-tos, run as they stand at a tenant of their own."""

import json
import re

import pytest
from django.conf import settings

from tests.support import howtos
from tests.support.management import result_of, superuser

DOCS = settings.BASE_DIR / "docs"


@pytest.fixture(name="run")
def make_run(acme):
    """Return a function that runs the first blocks of commands after a text of a page."""

    def run(page, after, *, blocks=1, **environment):
        _, found, rest = (DOCS / page).read_text().partition(after)
        assert found, f"{page} does not have: {after}"
        code = "".join(re.findall(r"^```bash\n(.*?)^```$", rest, re.MULTILINE | re.DOTALL)[:blocks])
        known = {"ISSUER": acme.issuer, "API": f"{acme.issuer}/api/v1", "TOKEN": str(superuser(acme).token)}
        for name, value in environment.items():  # what the page leaves to the reader
            code = code.replace(f"{name}=…", f"{name}='{value}'")
        return howtos.shell(code, known)

    return run


def test_a_user_with_a_verified_address_is_created(run):
    answer = json.loads(run("applications/index.md", "**Verified addresses.**"))

    assert answer["message"] == "success"
    assert answer["result"]["email_verified"] is True


def test_a_program_gets_the_management_role_and_uses_the_api(run, acme):
    acme.user("ada")

    lines = run("api.md", "**An application** of type", blocks=2)

    users = howtos.get_last(lines)["result"]["data"]
    assert [user["username"] for user in users] == ["ada"]


@pytest.mark.parametrize("page", ["how-to/machines.md", "how-to/api-python.md", "how-to/api-node.md"])
def test_a_refusal_is_printed_and_ends_the_commands(run, page):
    run(page, "## 1. Register")

    with pytest.raises(AssertionError) as second:
        run(page, "## 1. Register")

    assert "Gatehouse refused it: indicator: already exists" in str(second.value)
    assert "Traceback" not in str(second.value)
    assert "read:" not in str(second.value)  # what would have been next


def test_the_pages_create_what_no_other_page_creates(run, acme):
    pages = ["how-to/machines.md", "how-to/api-python.md", "how-to/api-node.md"]

    for page in pages:
        run(page, "## 1. Register")
    run("concepts/access.md", "To try it", USER_ID=str(acme.user().pk))


def test_an_organization_gets_a_member_with_a_role(run, acme):
    user = acme.user("ada")

    lines = run("concepts/organizations.md", "To create an organization", USER_ID=str(user.pk))

    members = howtos.get_last(lines)["result"]["data"]
    assert [member["username"] for member in members] == ["ada"]
    organization = result_of(superuser(acme).get("/organizations"))["data"][0]
    roles = result_of(superuser(acme).get(f"/organizations/{organization['id']}/users/{user.pk}/roles"))
    assert [role["name"] for role in roles] == ["editor"]

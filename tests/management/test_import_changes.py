"""*Import users*: what changes between the check of a file and its import."""

import pytest

from identity.tenants import services as tenants
from management.administrators.models import Administrator
from tests.support import operators
from tests.support.import_page import PATH, THREE, checked, hidden, names


def test_a_role_that_was_withdrawn_imports_nobody(acme):
    """A change of the rights ends the sessions."""
    who = operators.administrator(tenants=[acme.tenant.slug])
    operator = operators.at(acme, who)
    address, page = checked(operator, THREE)
    Administrator.objects.filter(pk=who.pk).update(role="support")

    for answer in (operator.http.post(PATH, data=hidden(page)), operator.get(address)):
        assert answer.status_code in {302, 303}
        assert answer.headers["Location"].startswith("/admin/login/")
    assert names(acme) == set()


def test_an_administrator_who_was_deleted_imports_nobody(acme):
    who = operators.administrator()
    operator = operators.at(acme, who)
    address, page = checked(operator, THREE)
    Administrator.objects.filter(pk=who.pk).delete()

    for answer in (operator.http.post(PATH, data=hidden(page)), operator.get(address)):
        assert answer.status_code in {302, 303}
        assert answer.headers["Location"].startswith("/admin/login/")
    assert names(acme) == set()


def test_who_has_signed_out_imports_nobody(acme):
    operator = operators.at(acme)
    address, page = checked(operator, THREE)
    operator.submit("/admin/logout/", page="/admin/")

    operator.http.post(PATH, data=hidden(page))

    assert operators.at(acme, operator.who).get(address).status_code == 410
    assert names(acme) == set()


def test_a_tenant_that_was_deleted_gets_nobody(acme):
    operator = operators.at(acme)
    address, page = checked(operator, THREE)
    tenants.remove(acme.tenant)

    for answer in (operator.http.post(PATH, data=hidden(page)), operator.get(address)):
        assert answer.status_code in {302, 303, 409}, answer.text
        assert "result" not in answer.headers.get("Location", "")


@pytest.mark.parametrize("value", ["", "\0", "x" * 5000, "é", "//evil.example"])
def test_what_is_no_id_of_a_checked_file_is_410(acme, value):
    operator = operators.at(acme)
    _, page = checked(operator, THREE)

    assert operator.http.post(PATH, data=hidden(page) | {"checked": value}).status_code == 410
    assert names(acme) == set()

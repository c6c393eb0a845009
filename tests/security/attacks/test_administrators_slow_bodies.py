"""A caller who sends the end of a large body after the right to send it was removed (AP21)."""

import json
import secrets
from urllib.parse import urlencode

import pytest
from django.conf import settings

from identity.core import tenancy
from identity.roles.models import Role
from management.administrators import services as administrators
from management.administrators.models import Administrator
from tests.support import management, operators, slow_bodies
from tests.support.cast import PASSWORD
from tests.support.management import result_of

pytestmark = pytest.mark.usefixtures("default_tenant")
PAGE = "/admin/roles/role/do/create/"
TAKEN = [{"tenants": []}, {"role": "auditor"}]


@pytest.fixture
def who(acme):
    return operators.administrator(tenants=[acme.tenant.slug])


def post_role(caller, name, meanwhile):
    body = json.dumps({"name": name, "type": "User"}).encode().ljust(slow_bodies.LARGE)
    headers = {"Authorization": f"Bearer {caller.token}", "Content-Type": "application/json"}
    address = f"{caller.world.address}/api/v1/roles"
    status, _, _ = slow_bodies.send("POST", address, headers, body, meanwhile)
    return status


def submit_role(operator, name, meanwhile):
    typed = {"name": name, "type": "User", "padding": "x" * slow_bodies.LARGE}
    form = operators.hidden_fields(operator.get(PAGE)) | typed
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in operator.http.cookies.jar)
    headers = {"Cookie": cookies, "Content-Type": "application/x-www-form-urlencoded"}
    address = f"{settings.BASE_URL}{PAGE}"
    status, answered, _ = slow_bodies.send("POST", address, headers, urlencode(form).encode(), meanwhile)
    return status, answered.get("Location", "")


def take(who, fields):
    with tenancy.using(tenancy.DEFAULT):
        administrators.change(Administrator.objects.get(pk=who.pk), fields)


def is_made(world, name):
    with world.active():
        return Role.objects.filter(name=name).exists()


def new_name():
    return f"role {secrets.token_hex(4)}"


def caller_of(world, who):
    token = management.administrator_token(who.username, PASSWORD, settings.BASE_URL)
    return management.Caller(world, token)


@pytest.mark.parametrize("taken", TAKEN, ids=str)
def test_attack_AP21_an_administrator_without_the_right_changes_nothing(acme, who, taken):
    caller, name = caller_of(acme, who), new_name()

    status = post_role(caller, name, lambda: take(who, taken))

    assert status in {401, 403}
    assert not is_made(acme, name)


def test_attack_AP21_nor_does_an_application_that_was_deleted(acme):
    machine, name, admin = management.machine(acme), new_name(), management.superuser(acme)

    status = post_role(machine, name, lambda: result_of(admin.delete(f"/applications/{machine.id}")))

    assert status == 401
    assert not is_made(acme, name)


@pytest.mark.parametrize("taken", TAKEN, ids=str)
def test_attack_AP21_nor_does_a_form_of_the_site(acme, who, taken):
    operator, name = operators.at(acme, who), new_name()

    status, location = submit_role(operator, name, lambda: take(who, taken))

    assert (status, location.startswith(("/admin/login/", "/admin/tenant/"))) == (303, True)
    assert not is_made(acme, name)


def test_attack_AP21_nor_a_form_of_a_session_that_was_signed_out(acme, who):
    operator, name = operators.at(acme, who), new_name()

    status, location = submit_role(operator, name, lambda: operator.submit("/admin/logout/", page="/admin/"))

    assert (status, location.startswith("/admin/login/")) == (303, True)
    assert not is_made(acme, name)


def test_what_was_allowed_all_the_time_is_done(acme, who):
    by_api, by_form = new_name(), new_name()

    assert post_role(caller_of(acme, who), by_api, lambda: None) == 200
    assert submit_role(operators.at(acme, who), by_form, lambda: None)[0] == 303
    assert is_made(acme, by_api)
    assert is_made(acme, by_form)

"""Passwords of administrators that are easy to guess (AP40)."""

import secrets
from io import StringIO

import pytest
from django.conf import settings as configured
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from identity.core.errors import Invalid
from identity.users import passwords
from management.administrators import recovery, replaced_passwords
from management.administrators import services as administrators
from management.administrators.models import Administrator
from management.doctor import administrators as doctor
from management.seeding import bootstrap
from tests.support import management, operators
from tests.support.cast import PASSWORD, default_world
from tests.support.management import refusal_of

pytestmark = pytest.mark.usefixtures("default_tenant", "address")
COMMON = "qwerty123456"
SHORT = "tr0ub4dor 3"


@pytest.fixture
def name():
    return f"administrator-{secrets.token_hex(4)}"


@pytest.fixture
def root():
    return management.superuser(default_world())


def weak(name):
    return [SHORT, COMMON, COMMON.upper(), name, f" {name.upper()} ", f"{name}@example.com"]


def test_attack_AP40_the_api_refuses_them(root, name):
    email = f"{name}@example.com"
    for password in weak(name):
        refused = root.post("/administrators", username=name, email=email, password=password)
        assert "password" in refusal_of(refused, 400)
    made = root.created("/administrators", username=name, email=email, password=PASSWORD)

    for password in weak(name):
        path = f"/administrators/{made['id']}"
        assert "password" in refusal_of(root.patch(path, password=password), 400)


def test_attack_AP40_the_site_refuses_them(acme):
    operator = operators.at(acme)
    for password in weak(operator.who.username)[:4]:
        answer = operator.submit("/admin/password/", current=PASSWORD, password=password)
        assert answer.status_code == 400
    assert Administrator.objects.get(pk=operator.who.pk).check_password(PASSWORD)


@pytest.mark.parametrize("password", [SHORT, COMMON])
def test_attack_AP40_links_and_commands_refuse_them(name, password):
    who = operators.administrator(email=f"{name}@example.com")

    with pytest.raises(Invalid):
        recovery.set_password(who.pk, state=recovery.get_state(who), password=password)
    with pytest.raises(Invalid):
        recovery.set_password(who.pk, state=recovery.get_state(who), password=who.email)
    with pytest.raises(Invalid):
        replaced_passwords.set_by_command(who, password)
    with pytest.raises(Invalid):
        administrators.build(username=name, password=password)
    with pytest.raises(ValidationError):
        Administrator.objects.create_superuser(name, password)
    assert Administrator.objects.get(pk=who.pk).check_password(PASSWORD)


def test_the_first_administrator_may_have_a_weak_password_until_it_is_changed(settings, name):
    settings.ADMIN_USERNAME, settings.ADMIN_PASSWORD = name, "123456"

    bootstrap._create_administrator()

    first = Administrator.objects.get(username=name)
    assert first.is_superuser
    assert first.check_password("123456")
    assert [one.id for one in doctor.first_password()] == ["administrators.W008"]


def test_a_superuser_of_the_command_line_may_have_no_password(name, monkeypatch):
    monkeypatch.delenv("DJANGO_SUPERUSER_PASSWORD", raising=False)

    call_command("createsuperuser", username=name, interactive=False, stdout=StringIO())

    assert not Administrator.objects.get(username=name).has_usable_password()


def test_attack_AP40_the_command_names_the_rule(name, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", SHORT)

    with pytest.raises(CommandError, match="must have 12 to 256 characters"):
        call_command("createsuperuser", username=name, interactive=False, stdout=StringIO())

    assert not Administrator.objects.filter(username=name).exists()


def test_in_development_a_short_password_is_enough(settings, name):
    settings.DEVELOPMENT = True

    assert administrators.create(username=name, password="123456").check_password("123456")


def test_attack_AP40_a_password_that_was_set_earlier_stays_valid(name):
    Administrator.objects.create(username=name, username_key=name, password=passwords.hash_password("123456"))

    signed_in = management.administrator_token(name, "123456", configured.BASE_URL)

    assert signed_in


@pytest.mark.parametrize(("kept", "found"), [("123456", 1), (PASSWORD, 0)])
def test_attack_AP40_the_doctor_names_the_first_password(settings, name, kept, found):
    settings.ADMIN_USERNAME, settings.ADMIN_PASSWORD = name, "123456"
    who = operators.administrator()
    Administrator.objects.filter(pk=who.pk).update(username=name, password=passwords.hash_password(kept))

    warnings = [one.id for one in doctor.first_password()]

    assert warnings == ["administrators.W008"] * found

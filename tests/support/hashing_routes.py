"""The routes that hash a password, each with a body that makes it do so."""

from tests.support.cast import PASSWORD


def as_json(**fields):
    return {"json": fields}


def as_form(**fields):
    return {"data": fields}


HASHING = {
    "/api/interaction/sign-in": as_json(identifier="nobody", password=PASSWORD),
    "/api/interaction/register": as_json(username="somebody", password=PASSWORD),
    "/api/interaction/passkey/verify": as_json(ceremony="confirm", credential={}, password=PASSWORD),
    "/api/my-account/confirm": as_json(password=PASSWORD),
    "/api/interaction/forgot-password": as_json(identifier="a@x.example", new_password=PASSWORD),
    "/api/admin/sign-in": as_json(username="nobody", password=PASSWORD),
    "/sign-in": as_form(identifier="nobody", password=PASSWORD),
    "/register": as_form(username="somebody", password=PASSWORD),
    "/forgot-password": as_form(new_password=PASSWORD),
    "/admin/login/": as_form(username="nobody", password=PASSWORD),
    "/admin/invitation/": as_form(username="somebody", password=PASSWORD),
    "/admin/recover/new/": as_form(password=PASSWORD),
}

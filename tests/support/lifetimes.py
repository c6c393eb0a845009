"""Set lifetimes, let time pass and recognise an expired grant."""

from datetime import timedelta

from django.db.models import F

from tests.support.management import result_of


def set_tenant(admin, **lifetimes):
    result_of(admin.patch("/oidc-settings", **lifetimes))


def let_pass(world, model, seconds, *columns):
    """Move times of all rows of a tenant into the past."""
    with world.active():
        model.objects.update(**{name: F(name) - timedelta(seconds=seconds) for name in columns})


def is_invalid_grant(answer):
    return (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")

"""Violations of constraints, as the database reports them."""

from django.db import IntegrityError, transaction

from database import ids
from oidc.grants.models import Consent
from tests.support.cast import RelyingParty, World


def missing_parent(world: World, client: RelyingParty) -> IntegrityError:
    """The error of a row that refers to a user who was deleted."""
    return _violation(world, client, user_id=ids.new())


def missing_value(world: World, client: RelyingParty) -> IntegrityError:
    """The error of a row that lacks a value."""
    return _violation(world, client, user=world.user(), scopes=None)


def _violation(world: World, client: RelyingParty, **fields: object) -> IntegrityError:
    try:
        with world.active(), transaction.atomic():
            Consent.objects.create(application_id=client.application.pk, **fields)
    except IntegrityError as error:
        return error
    raise AssertionError("no constraint was violated")

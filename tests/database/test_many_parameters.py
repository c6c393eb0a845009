"""Statements with more parameters than the database allows, which Django would send."""

import pytest
from django.db import DatabaseError, connection

from database.availability import is_unavailable
from identity.users.models import User
from tests.support.cast import World

MANY = 70_000


@pytest.mark.parametrize("fields", [0, 1, 2, 5])
def test_a_batch_has_few_enough(fields: int):
    size = connection.ops.bulk_batch_size([None] * fields, [None] * MANY)

    assert size * fields <= (250_000 if connection.vendor == "sqlite" else 30_000)
    assert size > 0


def test_what_exceeds_the_limit_is_no_outage(acme: World):
    number = 300_000 if connection.vendor == "sqlite" else MANY
    with acme.active(), pytest.raises(DatabaseError, match="too many") as raised:
        list(User.objects.filter(username__in=[str(each) for each in range(number)]))

    assert not is_unavailable(raised.value)
    with acme.active():  # the connection can still be used
        assert not User.objects.filter(username="nobody").exists()

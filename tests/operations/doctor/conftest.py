"""What a fault of an installation leaves behind."""

from collections.abc import Iterator

import pytest
from django.db import transaction

from tests.support.doctor_faults import VAR


@pytest.fixture
def undone() -> Iterator[None]:
    """Faults in the database are there for this test alone: the server of the run never sees them."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def no_leftovers() -> Iterator[None]:
    yield
    for name in ("secret-key", "first-password"):
        (VAR / name).unlink(missing_ok=True)

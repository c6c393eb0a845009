"""The visit of somebody who is signed in."""

import pytest

from tests.support.end_session import visit


@pytest.fixture
def here(acme):
    return visit(acme)

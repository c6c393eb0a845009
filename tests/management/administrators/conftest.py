"""An administrator, and a token of theirs."""

import secrets

import pytest

from management.administrators import services as administrators
from management.administrators import tokens
from tests.support.cast import PASSWORD


@pytest.fixture
def administrator(address):
    return administrators.create(username=f"a-{secrets.token_hex(4)}", password=PASSWORD, is_superuser=True)


@pytest.fixture
def token(administrator):
    return tokens.issue(administrator)

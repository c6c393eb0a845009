"""A machine at the token endpoint."""

import pytest


@pytest.fixture
def machine(acme):
    return acme.application("MachineToMachine")

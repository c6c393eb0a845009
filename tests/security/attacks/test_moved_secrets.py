"""Somebody who can write to the database moves a sealed value to another row, or to another tenant."""

import itertools

import pytest

from identity.core import tenancy
from identity.encryption import columns, keyring
from tests.support import cast, factors, operators, social, two_step_page
from tests.support.admin_pages import furnish

_NEW = "/admin/applications/application/do/create/"
_SEALED = [kind for kind in columns.get_columns() if kind.purpose]


@pytest.fixture(scope="module")
def two_of_each(address: str) -> None:
    """Two tenants, each with a value in every column that is sealed."""
    for world in (cast.new_world("One"), cast.new_world("Other")):
        furnish(world)
        factors.enrol(world, world.user())
        social.connect(world, social.oauth2_config("https://login.example"), "oauth2")
        social.away(world.browser(), "oauth2")
        operator = operators.at(world)
        made = operator.submit(_NEW, name="Robot", type="MachineToMachine")
        assert made.status_code == 303, made.text
        two_step_page.set_up(operator)


@pytest.mark.usefixtures("two_of_each")
@pytest.mark.parametrize("kind", _SEALED, ids=lambda kind: kind.name)
def test_attack_what_is_sealed_opens_in_its_own_row_alone(kind: columns.EncryptedColumn) -> None:
    with tenancy.using(tenancy.EVERYWHERE):
        rows = list(kind.rows().order_by("-pk")[:5])
    bindings = [kind.bound_to(row) for row in rows]

    assert len(set(bindings)) == len(rows) >= 2
    for row, binding in zip(rows[:2], bindings, strict=False):
        assert keyring.decrypt(getattr(row, kind.column), purpose=kind.purpose, bound_to=binding)
    for (row, _), (_, binding) in itertools.permutations(zip(rows, bindings, strict=True), 2):
        with pytest.raises(keyring.UnknownKey):
            keyring.decrypt(getattr(row, kind.column), purpose=kind.purpose, bound_to=binding)

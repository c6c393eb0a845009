"""Each small change of the module with ``find_need`` (those of tests/mutation) is noticed by its tables."""

from types import ModuleType
from typing import Any, Final

from tests.mutation import mutants
from tests.mutation.mutants import Mutant
from tests.support.needed_table import REACHABLE, answer, reachable, read_rows

_PATH: Final = "identity/factors/needed.py"


def changed(mutant: Mutant) -> Any:
    module = ModuleType("identity.factors.needed")
    exec(mutant.compile(), module.__dict__)  # noqa: S102 - our own code, with one change
    return module


def is_noticed(mutant: Mutant, table: list[dict[str, str]]) -> bool:
    try:
        module = changed(mutant)
        is_other = any(answer(row, module).items() - row.items() for row in table)
        return is_other or any(reachable(row, module) is not row[-1] for row in REACHABLE)
    except Exception:  # noqa: BLE001 - a change that breaks the function is noticed
        return True


def test_decision_M58_each_change_of_needed_is_noticed():
    table = read_rows()
    found = mutants.find(_PATH)

    survivors = [mutant for mutant in found if not is_noticed(mutant, table)]

    assert len(found) > 100
    assert [f"{mutant.line}, {mutant.function}: {mutant.text}" for mutant in survivors] == []

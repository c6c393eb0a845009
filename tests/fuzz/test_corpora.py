"""What fuzzing found worth keeping, and what is worth trying first, replayed."""

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS

CORPORA = Path(__file__).parent / "corpora"
INPUTS = sorted(path for path in CORPORA.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", INPUTS, ids=[f"{path.parent.name}/{path.name}" for path in INPUTS])
def test_an_input_breaks_nothing(path):
    TARGETS[path.parent.name](path.read_bytes())


def test_every_target_has_inputs_and_they_are_small():
    assert {path.parent.name for path in INPUTS} == TARGETS.keys()
    assert all(path.stat().st_size <= 4096 for path in INPUTS)
    assert len(INPUTS) < 400

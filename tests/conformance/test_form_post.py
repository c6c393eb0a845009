"""oidcc-formpost-basic-certification-test-plan: the modules of the basic plan, with a form as the answer."""

from collections.abc import Callable
from typing import Final

import pytest

from tests.conformance import basic_plan, sheet
from tests.conformance.suite import Suite
from tests.conformance.verdict import Verdict

MODULES: Final[dict[str, Callable[[Suite], None]]] = {
    name.removeprefix("test_").replace("_", "-"): run
    for name, run in vars(basic_plan).items()
    if name.startswith("test_oidcc_")
}


@pytest.fixture
def verdict(module: str) -> Verdict:
    """What comes of the module."""
    return Verdict(module, plan=sheet.FORM_POST)


@pytest.fixture
def suite(suite: Suite) -> Suite:
    """The suite, which asks for a form in each request."""
    suite.response_mode = "form_post"
    return suite


@pytest.mark.parametrize("module", MODULES)
def test_decision_P16_passes(suite: Suite, module: str) -> None:
    MODULES[module](suite)

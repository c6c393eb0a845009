"""Which database engine a run tests on: ``pytest --engine=postgres``; SQLite without it.

Loaded before the settings are, because they need to know.
"""

import os
import sys

import pytest

_ENGINES = ("sqlite", "postgres")

for _argument in sys.argv:
    if _argument.startswith("--engine="):
        os.environ["TEST_ENGINE"] = _argument.partition("=")[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=_ENGINES, default="sqlite", help="the database engine to test on")


# What no database has a part in. Where both engines are tested side by side, each takes a half of it:
# once is enough, and `make verify` has it on both.
_ONCE = {
    "sqlite": (
        "browser/test_accessibility.py",
        "browser/test_first_start.py",
        "identity/test_identifiers.py",
        "identity/test_imported_hashes.py",
        "interaction/test_connector_providers.py",
        "interaction/test_languages.py",
        "interaction/test_outbound.py",
        "interaction/test_password_policy.py",
        "interaction/test_social_providers.py",
        "management/test_openapi.py",
        "oidc/test_redirect_uris.py",
        "test_house.py",
        "test_migrations.py",
    ),
    "postgres": (
        "browser/test_account.py",
        "browser/test_code_journeys.py",
        "browser/test_journeys.py",
        "browser/test_social.py",
        "config/",
        "conformance/",
    ),
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the run on the other engine, beside this one, tells already."""
    if "TEST_SIDE_BY_SIDE" not in os.environ or "GATEHOUSE_THOROUGH" in os.environ:
        return
    (other,) = set(_ENGINES) - {config.getoption("engine")}
    of_the_other = tuple(f"{config.rootpath}/tests/{name}" for name in _ONCE[other])
    left_out = {item for item in items if str(item.path).startswith(of_the_other)}
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]

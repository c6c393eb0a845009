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


# What no database has a part in, or what has been through a database of the same kind of rows already:
# once is enough, and `make verify` has it on both.
_SAME_ON_BOTH = (
    "browser/",
    "config/",
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
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out on PostgreSQL what the run on SQLite beside it tells already."""
    if config.getoption("engine") != "postgres" or "GATEHOUSE_THOROUGH" in os.environ:
        return
    asked = {argument.partition("::")[0] for argument in config.args}
    folders = [f"{config.rootpath}/tests/{name}" for name in _SAME_ON_BOTH]
    left_out = [
        item
        for item in items
        if any(str(item.path).startswith(folder) for folder in folders)
        and not any(folder.endswith(argument.rstrip("/")) for folder in folders for argument in asked)
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]

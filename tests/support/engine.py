"""Which database engine a run tests on: ``pytest --engine=postgres``; SQLite without it.

Loaded before the settings are, because they need to know.
"""

import gc
import os
import sys
from pathlib import Path

import pytest

# Tests start hundreds of servers and commands: modules are compiled once, even where the shell asks Python to
# keep no bytecode.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# With Python's own threshold, a sixth of a run's beginning is garbage collection that finds almost nothing.
gc.set_threshold(100_000)

_ENGINES = ("sqlite", "postgres")

for _argument in sys.argv:
    if _argument.startswith("--engine="):
        os.environ["TEST_ENGINE"] = _argument.partition("=")[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=_ENGINES, default="sqlite", help="the database engine to test on")
    parser.addoption("--fast", action="store_true", help="only what needs no server and no browser")


# What the database has little or no part in. Where both engines are tested side by side, each takes a half of
# it. `make verify-long` has it on both. What a stricter engine would find is PostgreSQL's.
ONCE = {
    "sqlite": (
        "audit/test_origin.py",
        "browser/test_access_and_stay.py",
        "browser/test_accessibility.py",
        "browser/test_account.py",
        "browser/test_admin_site.py",
        "browser/test_connector_trial.py",
        "browser/test_first_start.py",
        "browser/test_form_post.py",
        "browser/test_looks_of_trials_and_terms.py",
        "browser/test_operators_day.py",
        "browser/test_sign_in_trial.py",
        "browser/test_strength_meter.py",
        "config/test_environment.py",
        "docs/",
        "identity/test_hashing_process.py",
        "identity/test_identifiers.py",
        "identity/test_imported_hashes.py",
        "identity/test_passwords.py",
        "interaction/account/",
        "interaction/connectors/",
        "interaction/pages/",
        "interaction/test_breached_passwords.py",
        "interaction/test_captcha.py",
        "interaction/test_code_pages.py",
        "interaction/test_connector_providers.py",
        "interaction/test_languages.py",
        "interaction/test_message_templates.py",
        "interaction/test_messages.py",
        "interaction/test_notices.py",
        "interaction/test_outbound.py",
        "interaction/test_password_policy.py",
        "interaction/test_sign_in_api.py",
        "interaction/test_sign_in_api_refusals.py",
        "interaction/test_social_providers.py",
        "interop/test_relying_parties.py",
        "management/test_admin_editors.py",
        "management/test_admin_previews.py",
        "management/test_admin_time_zone.py",
        "management/test_application_access.py",
        "management/test_application_secrets.py",
        "management/test_deleted_tenant.py",
        "management/test_members_m2m.py",
        "management/test_openapi.py",
        "management/test_seed_conformance.py",
        "management/test_try_sign_in.py",
        "management/test_two_step.py",
        "management/test_user_profile.py",
        "oidc/end_session/",
        "oidc/test_algorithms.py",
        "oidc/test_claims_parameter.py",
        "oidc/test_client_authentication.py",
        "oidc/test_cross_origin.py",
        "oidc/test_custom_claims.py",
        "oidc/test_discovery.py",
        "oidc/test_lifetimes.py",
        "oidc/test_redirect_uris.py",
        "oidc/test_token_endpoint.py",
        "oidc/test_userinfo.py",
        "oidc/tokens/",
        "operations/test_rotate_keys.py",
        "security/attacks/test_console_comparison.py",
        "security/attacks/test_console_log.py",
        "security/attacks/test_hashes",
        "security/attacks/test_limited_administrators.py",
        "security/attacks/test_limits_administrators.py",
        "security/attacks/test_limits_known_browsers.py",
        "security/attacks/test_social_ssrf.py",
        "security/test_advisories.py",
        "security/test_case_table.py",
        "security/test_limits_by_route.py",
        "test_house.py",
        "test_migrations.py",
        "test_patches.py",
        "test_release.py",
        "test_shards.py",
        "test_standards.py",
        "test_supply_chain.py",
        "test_words.py",
    ),
    "postgres": (
        "browser/test_code_journeys.py",
        "browser/test_journeys.py",
        "browser/test_social.py",
        "config/test_base_url.py",
        "config/test_errors.py",
        "config/test_load_shedding.py",
        "config/test_worker.py",
        "conformance/",
        "identity/test_tenancy.py",
        "interaction/social/",
        "interaction/test_limits.py",
        "management/administrators/",
        "management/test_access.py",
        "management/test_access_foreign_ids.py",
        "management/test_admin_access.py",
        "management/test_admin_bulk.py",
        "management/test_admin_operations.py",
        "management/test_admin_redirects.py",
        "management/test_admin_sent_twice.py",
        "management/test_admin_sign_in.py",
        "management/test_admin_site.py",
        "management/test_application_page.py",
        "management/test_bad_input.py",
        "management/test_console.py",
        "management/test_import_users.py",
        "management/test_seed_demo.py",
        "management/test_user_access.py",
        "oidc/authorize/",
        "oidc/test_client_failures.py",
        "oidc/test_resources_and_organizations.py",
        "operations/test_doctor.py",
        "operations/test_health.py",
        "operations/test_metrics.py",
        "operations/test_shared_cache.py",
        "operations/test_tracing.py",
        "security/attacks/test_console_administrators.py",
        "security/attacks/test_console_queries.py",
        "security/attacks/test_console_tenants.py",
        "security/attacks/test_console_trials.py",
        "security/attacks/test_deployment.py",
        "security/attacks/test_limits_addresses.py",
        "security/attacks/test_limits_codes.py",
        "security/attacks/test_limits_connectors.py",
        "security/attacks/test_limits_rows.py",
        "security/attacks/test_members_of_others.py",
        "security/attacks/test_stolen_database.py",
        "security/test_regressions.py",
    ),
}

# What looks at the rows of all tenants takes longer with every test that ran before it.
_FIRST = (
    "operations/test_doctor.py",
    "operations/test_rotate_keys.py",
)

_SERVERS = {"address", "chromium", "postgres"}  # fixtures
# What starts programs, or hashes and walks for many seconds.
_SLOW = (
    "bench/",
    "browser/",
    "config/test_environment.py",
    "conformance/",
    "identity/test_hashing_process.py",
    "interaction/test_breached_passwords.py",
    "management/test_openapi.py",
    "management/test_upgrade.py",
    "operations/",
    "security/attacks/test_hashes_bodies.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the files that the run on the other engine has."""
    return True if str(collection_path).startswith(_others(config)) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put first what slows down later, and leave out what this run need not test."""
    first = _paths(config, _FIRST)
    items.sort(key=lambda item: not str(item.path).startswith(first))
    if config.getoption("fast"):
        _leave_out(config, items, {item for item in items if not _is_fast(config, item)})
    # A file that the command line names is collected all the same.
    _leave_out(config, items, {item for item in items if str(item.path).startswith(_others(config))})


def _others(config: pytest.Config) -> tuple[str, ...]:
    """Return the beginnings of the paths that only the run on the other engine has."""
    if "TEST_SIDE_BY_SIDE" not in os.environ or "GATEHOUSE_BOTH_ENGINES" in os.environ:
        return ()
    (other,) = set(_ENGINES) - {config.getoption("engine")}
    return _paths(config, ONCE[other])


def _is_fast(config: pytest.Config, item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return not _SERVERS.intersection(fixtures) and not str(item.path).startswith(_paths(config, _SLOW))


def _leave_out(config: pytest.Config, items: list[pytest.Item], left_out: set[pytest.Item]) -> None:
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _paths(config: pytest.Config, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{config.rootpath}/tests/{name}" for name in names)

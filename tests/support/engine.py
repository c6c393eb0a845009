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
    parser.addoption("--apart", action="store_true", help="only what runs beside the two engines")
    parser.addoption("--fast", action="store_true", help="only what needs no server and no browser")


# What the database has little or no part in. Where both engines are tested side by side, each takes a half of
# it. `make verify-long` has it on both. What a stricter engine would find is PostgreSQL's.
ONCE = {
    "sqlite": (
        "audit/test_origin.py",
        "bench/",
        "browser/",
        "config/environment/",
        "config/test_mail.py",
        "config/test_relying_party_id.py",
        "docs/",
        "fuzz/",
        "identity/factors/test_ceremony_options.py",
        "identity/factors/test_malformed_passkeys.py",
        "identity/factors/test_needed.py",
        "identity/factors/test_passkey_assertions.py",
        "identity/factors/test_passkey_ceremonies.py",
        "identity/factors/test_totp.py",
        "identity/factors/test_webauthn_vectors.py",
        "identity/test_argon2_engines.py",
        "identity/test_hashing_process.py",
        "identity/test_identifiers.py",
        "identity/test_imported_hashes.py",
        "identity/test_hashing_queue.py",
        "identity/test_passwords.py",
        "identity/test_refusal_texts.py",
        "interaction/account/",
        "interaction/connectors/",
        "interaction/pages/",
        "interaction/second_factor/test_own_factor_proofs.py",
        "interaction/second_factor/test_own_factors.py",
        "interaction/second_factor/test_pages.py",
        "interaction/second_factor/test_risk.py",
        "interaction/test_breached_passwords.py",
        "interaction/test_captcha.py",
        "interaction/test_code_pages.py",
        "interaction/test_connector_choices.py",
        "interaction/test_connector_guides.py",
        "interaction/test_connector_providers.py",
        "interaction/test_connectors.py",
        "interaction/test_languages.py",
        "interaction/test_message_templates.py",
        "interaction/test_messages.py",
        "interaction/test_notices.py",
        "interaction/test_outbound.py",
        "interaction/test_own_branding.py",
        "interaction/test_page_texts.py",
        "interaction/test_password_policy.py",
        "interaction/test_profile_fields.py",
        "interaction/test_registration_page.py",
        "interaction/test_sign_in_api.py",
        "interaction/test_sign_in_api_refusals.py",
        "interaction/test_sms_countries.py",
        "interaction/test_social_providers.py",
        "interaction/test_terms.py",
        "interop/",
        "management/test_admin_editors.py",
        "management/test_admin_language.py",
        "management/test_admin_previews.py",
        "management/test_admin_time_zone.py",
        "management/test_application_access.py",
        "management/test_application_secrets.py",
        "management/test_console_language.py",
        "management/test_console_parity.py",
        "management/test_deleted_tenant.py",
        "management/test_documentation_links.py",
        "management/test_edit_in_place.py",
        "management/test_entry_sentences.py",
        "management/test_interface.py",
        "management/test_interface_refusals.py",
        "management/test_members_m2m.py",
        "management/test_openapi.py",
        "management/test_own_branding_forms.py",
        "management/test_own_pages_language.py",
        "management/test_pictures.py",
        "management/test_refusals_language.py",
        "management/test_seed_conformance.py",
        "management/test_texts_form.py",
        "management/test_try_sign_in.py",
        "management/test_two_step.py",
        "management/test_user_profile.py",
        "oidc/end_session/",
        "oidc/test_algorithms.py",
        "oidc/test_claims_parameter.py",
        "oidc/test_client_authentication.py",
        "oidc/test_cross_origin.py",
        "oidc/test_custom_claims.py",
        "oidc/test_custom_claims_preview.py",
        "oidc/test_discovery.py",
        "oidc/test_lifetimes.py",
        "oidc/test_redirect_uris.py",
        "oidc/token_endpoint/",
        "oidc/test_userinfo.py",
        "oidc/test_userinfo_tokens.py",
        "oidc/tokens/",
        "operations/test_rotate_keys.py",
        "operations/test_tracing.py",
        "security/attacks/test_console_comparison.py",
        "security/attacks/test_console_log.py",
        "security/attacks/test_hashes",
        "security/attacks/test_limited_administrators.py",
        "security/attacks/test_limits_administrators.py",
        "security/attacks/test_limits_known_browsers.py",
        "security/attacks/test_social_ssrf.py",
        "security/cases/test_pages.py",
        "security/test_advisories.py",
        "security/test_advisories_input.py",
        "security/test_case_table.py",
        "security/test_limits_by_route.py",
        "security/test_limits_table.py",
        "test_engines.py",
        "test_house.py",
        "test_migrations.py",
        "test_mutation.py",
        "test_patches.py",
        "test_release.py",
        "test_shards.py",
        "test_standards.py",
        "test_supply_chain.py",
        "test_words.py",
        "test_work_stealing.py",
    ),
    "postgres": (
        "config/server/test_batches.py",
        "config/server/test_connections.py",
        "config/server/test_document_answers.py",
        "config/server/test_document_connections.py",
        "config/server/test_documents.py",
        "config/server/test_early_refusals.py",
        "config/server/test_floods.py",
        "config/server/test_idle_connections.py",
        "config/server/test_load_shedding.py",
        "config/server/test_shared_reads.py",
        "config/server/test_streams.py",
        "config/server/test_worker.py",
        "config/test_base_url.py",
        "config/test_errors.py",
        "conformance/",
        "identity/test_tenancy.py",
        "identity/test_tenant_paths.py",
        "identity/test_tenant_provision.py",
        "interaction/second_factor/test_forgotten_browsers.py",
        "interaction/second_factor/test_passkey_second_factor.py",
        "interaction/second_factor/test_passkey_sign_in.py",
        "interaction/second_factor/test_recovery.py",
        "interaction/second_factor/test_remembered_browsers.py",
        "interaction/social/",
        "interaction/test_account_linked.py",
        "interaction/test_limits.py",
        "interaction/test_social_callbacks.py",
        "management/administrators/",
        "management/test_access.py",
        "management/test_access_foreign_ids.py",
        "management/test_acr_of_applications.py",
        "management/test_admin_access.py",
        "management/test_admin_algorithms.py",
        "management/test_admin_bulk.py",
        "management/test_admin_claims.py",
        "management/test_admin_confirmation.py",
        "management/test_admin_factors.py",
        "management/test_admin_operations.py",
        "management/test_admin_redirects.py",
        "management/test_admin_sent_twice.py",
        "management/test_admin_sign_in.py",
        "management/test_admin_site.py",
        "management/test_application_page.py",
        "management/test_audited_names.py",
        "management/test_bad_input.py",
        "management/test_client_metadata.py",
        "management/test_concurrent_imports.py",
        "management/test_console.py",
        "management/test_factor_policy.py",
        "management/test_health_card.py",
        "management/test_import_bad_rows.py",
        "management/test_import_factors.py",
        "management/test_import_odd_values.py",
        "management/test_import_page.py",
        "management/test_import_runs.py",
        "management/test_import_users.py",
        "management/test_input_errors.py",
        "management/test_kept_input.py",
        "management/test_large_forms.py",
        "management/test_long_lists.py",
        "management/test_oidc_settings.py",
        "management/test_paging.py",
        "management/test_query_budgets.py",
        "management/test_required_factors.py",
        "management/test_seed_demo.py",
        "management/test_sent_forms.py",
        "management/test_sign_in_experience.py",
        "management/test_terms_setting.py",
        "management/test_unknown_fields.py",
        "management/test_user_access.py",
        "management/test_user_factors.py",
        "oidc/authorize/",
        "oidc/step_up/",
        "oidc/test_acr.py",
        "oidc/test_authorization_checks.py",
        "oidc/test_client_failures.py",
        "oidc/test_profile_claims.py",
        "oidc/test_required_factors.py",
        "oidc/test_machine_resources.py",
        "oidc/test_resources_and_organizations.py",
        "oidc/test_session_context.py",
        "oidc/test_token_steps.py",
        "oidc/test_validator.py",
        "operations/doctor/",
        "operations/test_health.py",
        "operations/test_metrics.py",
        "operations/test_shared_cache.py",
        "operations/test_unchanged_answers.py",
        "properties/test_code_plans.py",
        "properties/test_issuing_plans.py",
        "properties/test_one_channel.py",
        "properties/test_refresh_family.py",
        "properties/test_refresh_plans.py",
        "security/attacks/social/",
        "security/attacks/test_administrators_slow_bodies.py",
        "security/attacks/test_application_settings.py",
        "security/attacks/test_claim_names.py",
        "security/attacks/test_consent.py",
        "security/attacks/test_consent_context.py",
        "security/attacks/test_consent_silent.py",
        "security/attacks/test_console_administrators.py",
        "security/attacks/test_console_queries.py",
        "security/attacks/test_console_tenants.py",
        "security/attacks/test_console_trials.py",
        "security/attacks/test_deployment.py",
        "security/attacks/test_limits_addresses.py",
        "security/attacks/test_limits_codes.py",
        "security/attacks/test_limits_connectors.py",
        "security/attacks/test_limits_notices.py",
        "security/attacks/test_limits_rows.py",
        "security/attacks/test_mailbox_and_factor.py",
        "security/attacks/test_members_of_others.py",
        "security/attacks/test_moved_secrets.py",
        "security/attacks/test_outsider_earlier_codes.py",
        "security/attacks/test_outsider_mailboxes.py",
        "security/attacks/test_raised_lifetimes.py",
        "security/attacks/test_second_factors.py",
        "security/attacks/test_starved_codes.py",
        "security/attacks/test_starved_messages.py",
        "security/attacks/test_stolen_database.py",
        "security/cases/test_management_api.py",
        "security/cases/test_people.py",
        "security/cases/test_robustness.py",
        "security/cases/test_server_side.py",
        "security/test_cost_of_open_routes.py",
        "security/test_known_or_unknown.py",
        "security/test_regressions.py",
    ),
}

# What a third process begins with, first on one engine and then on the other: tests wait for servers and for
# other programs, so that two processes do not keep two processors busy. A process that has run its own files
# runs those of another: ``work_stealing``.
APART = {
    "sqlite": ("browser/", "config/environment/", "docs/"),
    "postgres": (
        "config/server/",
        "conformance/",
        "interaction/social/",
        "management/administrators/",
        "operations/",
        "security/attacks/test_console_",
    ),
}

# What looks at the rows of all tenants takes longer with every test that ran before it.
_FIRST = (
    "identity/test_ownership.py",
    "management/test_access.py",
    "management/test_admin_site.py",
    "management/test_bad_input.py",
    "management/test_console_language.py",
    "management/test_own_pages_language.py",
    "management/test_refusals_language.py",
    "operations/doctor/",
    "operations/test_rotate_keys.py",
    "security/attacks/test_console_comparison.py",
    "security/attacks/test_console_queries.py",
    "security/attacks/test_console_tenants.py",
    "security/attacks/test_limited_administrators.py",
    "security/attacks/test_stolen_database.py",
)

_SERVERS = {"address", "chromium", "postgres"}  # fixtures
# What starts programs, or hashes and walks for many seconds.
_SLOW = (
    "bench/",
    "browser/",
    "config/environment/",
    "conformance/",
    "identity/test_argon2_engines.py",
    "identity/test_hashing_process.py",
    "interaction/test_breached_passwords.py",
    "management/test_openapi.py",
    "management/test_upgrade.py",
    "operations/",
    "security/attacks/test_hashes_bodies.py",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the files that another run has."""
    return None if _is_mine(config, collection_path) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put first what slows down later, and leave out what this run need not test."""
    first = _paths(config, _FIRST)
    items.sort(key=lambda item: not str(item.path).startswith(first))
    if config.getoption("fast"):
        _leave_out(config, items, {item for item in items if not _is_fast(config, item)})
    # A file that the command line names is collected all the same.
    _leave_out(config, items, {item for item in items if not _is_mine(config, item.path)})


def _is_mine(config: pytest.Config, path: Path) -> bool:
    """Return whether this run has a file, or may have files of a folder."""
    if "TEST_SIDE_BY_SIDE" not in os.environ:
        return True
    engine = config.getoption("engine")
    (other,) = set(_ENGINES) - {engine}
    if "GATEHOUSE_BOTH_ENGINES" not in os.environ and str(path).startswith(_paths(config, ONCE[other])):
        return False
    apart = _paths(config, APART[engine])
    if config.getoption("apart"):
        return str(path).startswith(apart) or any(name.startswith(f"{path}/") for name in apart)
    return not str(path).startswith(apart)


def _is_fast(config: pytest.Config, item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return not _SERVERS.intersection(fixtures) and not str(item.path).startswith(_paths(config, _SLOW))


def _leave_out(config: pytest.Config, items: list[pytest.Item], left_out: set[pytest.Item]) -> None:
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def _paths(config: pytest.Config, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{config.rootpath}/tests/{name}" for name in names)

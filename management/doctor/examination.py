"""Runs all checks of the doctor, even if one of them fails."""

import logging
from typing import Final

from django.core.checks import CheckMessage, Error
from django.core.checks.registry import registry
from django.db import Error as DatabaseFailure

from identity.core.doctor_checks import TAG

# Without a database or its migrations, every check that reads from the database fails.
_NO_DATABASE: Final = {"database.E001", "database.E005"}
_logger: Final = logging.getLogger(__name__)


def findings() -> list[CheckMessage]:
    """Return the findings, most severe first. A check that fails is a finding too."""
    results: list[CheckMessage] = []
    failed: list[CheckMessage] = []
    for check in registry.get_checks(include_deployment_checks=True):
        if TAG not in check.tags:
            continue
        name = getattr(check, "__name__", "").replace("_", " ")
        try:
            results += check(app_configs=None, databases=["default"])
        except DatabaseFailure as failure:
            failed.append(_failed_check(name, failure))
        except Exception as failure:  # noqa: BLE001 - one failing check must not stop the others
            results.append(_failed_check(name, failure))
    if not _NO_DATABASE & {finding.id for finding in results}:
        results += failed
    return sorted(results, key=lambda finding: (-finding.level, str(finding.id)))


def _failed_check(name: str, failure: Exception) -> CheckMessage:
    # The message of an exception may quote a secret, so only its class is shown. The log has the message.
    _logger.debug("doctor check failed: %s", name, exc_info=failure)
    return Error(
        f"{name}: the check failed ({type(failure).__name__})",
        hint="fix the other findings first, then run the doctor again; LOG_LEVEL=debug logs the error",
        id="doctor.E001",
    )

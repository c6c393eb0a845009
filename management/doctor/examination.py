"""Asking all questions, whatever becomes of one of them."""

import logging
from typing import Final

from django.core.checks import CheckMessage, Error
from django.core.checks.registry import registry
from django.db import Error as DatabaseFailure

from identity.core.examination import TAG

# Away, or not migrated: then every question that looks into the database breaks.
_NO_DATABASE: Final = {"database.E001", "database.E005"}
_logger: Final = logging.getLogger(__name__)


def findings() -> list[CheckMessage]:
    """Return what was found, the gravest first. A question that breaks is a finding too."""
    found: list[CheckMessage] = []
    broken: list[CheckMessage] = []
    for check in registry.get_checks(include_deployment_checks=True):
        if TAG not in check.tags:
            continue
        name = getattr(check, "__name__", "").replace("_", " ")
        try:
            found += check(app_configs=None, databases=["default"])
        except DatabaseFailure as failure:
            broken.append(_not_answered(name, failure))
        except Exception as failure:  # noqa: BLE001 - one question must not keep the others from being asked
            found.append(_not_answered(name, failure))
    if not _NO_DATABASE & {finding.id for finding in found}:
        found += broken
    return sorted(found, key=lambda finding: (-finding.level, str(finding.id)))


def _not_answered(name: str, failure: Exception) -> CheckMessage:
    # What an error says may hold what it was given: its kind is enough here, the log has the rest.
    _logger.debug("doctor could not ask: %s", name, exc_info=failure)
    return Error(
        f"{name}: could not be examined ({type(failure).__name__})",
        hint="mend the other findings first, then ask again; LOG_LEVEL=debug says more",
        id="doctor.E001",
    )

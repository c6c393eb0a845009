"""The health card of the dashboard: problems of the tenant, and for superusers findings of the doctor."""

from typing import Any

from django.core.checks import ERROR, WARNING, CheckMessage
from django.urls import reverse
from django.utils.translation import gettext

from identity.core import doctor_checks, tenancy
from identity.operator_kit import health
from identity.operator_kit.health import Problem
from identity.operator_kit.panels import Link
from management.site.localized import to_sentence


def get_problems(administrator: Any) -> list[Problem]:
    """Return what an administrator should know about, serious problems first."""
    problems = health.find_problems(administrator)
    if administrator.is_superuser:
        problems += _find_in_installation()
    return sorted(problems, key=lambda problem: not problem.is_serious)


def _find_in_installation() -> list[Problem]:
    """Return the findings of those checks of the doctor that are cheap."""
    problems = []
    with tenancy.using(tenancy.EVERYWHERE):
        for check, page in doctor_checks.SHOWN:
            problems += [_to_problem(found, page) for found in check() if found.level >= WARNING]
    return problems


def _to_problem(found: CheckMessage, page: str) -> Problem:
    link = Link(gettext("Show administrators"), reverse(page)) if page else None
    text, detail = to_sentence(found.msg), to_sentence(found.hint or "")
    return Problem(text, detail, link, is_serious=found.level >= ERROR)

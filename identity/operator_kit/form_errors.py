"""Saying in a form what was refused, each rule at the field that breaks it."""

from typing import Any

from rest_framework.exceptions import ValidationError

from identity.core.errors import ServiceError


def tell(form: Any, refusal: ServiceError | ValidationError) -> int:
    """Write into a form what a service or the API's serializers refused, and return its status."""
    if isinstance(refusal, ServiceError):
        _write_refusal(form, refusal)
        return refusal.status
    _write_problems(form, _flat(refusal.detail))
    return refusal.status_code


def _write_refusal(form: Any, refusal: ServiceError) -> None:
    if problems := getattr(refusal, "problems", None):
        _write_problems(form, list(problems.items()))
    elif getattr(refusal, "field", None) in form.fields:
        form.add_error(refusal.field, refusal.rule)  # type: ignore[attr-defined]
    else:
        form.add_error(None, f"{refusal.message} ({refusal.result})" if refusal.result else refusal.message)


def _write_problems(form: Any, problems: list[tuple[str, str]]) -> None:
    """Say which rules were broken, each at its field."""
    for path, text in problems:
        name = path.split(".")[-1]
        known = name in form.fields
        form.add_error(name if known else None, text if known or not path else f"{path}: {text}")


def _flat(detail: Any, name: str = "") -> list[tuple[str, str]]:
    """Return the rules that were broken, each by the name of its field."""
    if isinstance(detail, dict):
        below = [_flat(value, f"{name}.{key}" if name else str(key)) for key, value in detail.items()]
        return [problem for problems in below for problem in problems]
    if isinstance(detail, list):
        return [problem for item in detail for problem in _flat(item, name)]
    return [(name, str(detail))]

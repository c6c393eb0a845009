"""Refusals of services and serializers as errors of a form, at the fields that they are about."""

from typing import Any, Final

from django.forms import Form
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import ValidationError

from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import translate
from identity.submissions.idempotency import KeyReused

_SENT_BEFORE: Final = gettext_lazy(
    "You have sent this form before, with other values, and it was done. Send it again to do it with these "
    "values too."
)


def describe(refusal: ServiceError) -> str:
    """Return the message of a refusal in the administrator's language."""
    if isinstance(refusal, Invalid):
        return f"{refusal.field}: {translate(refusal.rule)}"
    return translate(refusal.message)


def add_refusal(form: Form, refusal: ServiceError | ValidationError) -> int:
    """Add the errors of a refusal to a form, and return the refusal's HTTP status."""
    if isinstance(refusal, ValidationError):
        _add_problems(form, _flatten(refusal.detail))
        return refusal.status_code
    if isinstance(refusal, KeyReused):
        form.add_error(None, _SENT_BEFORE)
        return refusal.status
    field = getattr(refusal, "field", None)
    if refusal.field_errors:
        _add_problems(form, [(error.field, error.rule) for error in refusal.field_errors])
    elif field in form.fields:
        form.add_error(field, translate(getattr(refusal, "rule", refusal.message)))
    else:
        form.add_error(None, describe(refusal) + _describe_result(refusal.result))
    return refusal.status


def _describe_result(result: object) -> str:
    return f" ({translate(result) if isinstance(result, str) else result})" if result else ""


def _add_problems(form: Form, problems: list[tuple[str, str]]) -> None:
    """Add each problem to the field at the end of its path, or to the form if it has no such field."""
    for path, problem in problems:
        name = path.split(".")[-1]
        is_field, text = name in form.fields, translate(problem)
        form.add_error(name if is_field else None, text if is_field or not path else f"{path}: {text}")


def _flatten(detail: Any, path: str = "") -> list[tuple[str, str]]:
    """Return the problems in the detail of a validation error, each with the path of its field."""
    if isinstance(detail, dict):
        nested = [_flatten(value, f"{path}.{key}" if path else str(key)) for key, value in detail.items()]
        return [problem for problems in nested for problem in problems]
    if isinstance(detail, list):
        return [problem for item in detail for problem in _flatten(item, path)]
    return [(path, str(detail))]

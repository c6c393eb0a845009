"""The URLs of a model's pages."""

from typing import Any

from django.contrib.admin.utils import quote
from django.db.models import Model
from django.urls import reverse


def url_name(model: type[Model], page: str) -> str:
    return f"{model._meta.app_label}_{model._meta.model_name}_{page}"


def list_url(model: type[Model]) -> str:
    return _reverse(model, "changelist")


def row_url(row: Model) -> str:
    return _reverse(type(row), "change", quote(row.pk))


def operation_url(model: type[Model], operation: str, row: Model | None) -> str:
    if row is None:
        return _reverse(model, "operate_all", operation)
    return _reverse(model, "operate", quote(row.pk), operation)


def preview_url(model: type[Model], operation: str, row: Model, preview: str) -> str:
    return _reverse(model, "preview", quote(row.pk), operation, preview)


def _reverse(model: type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{url_name(model, page)}", args=args)

"""What indexes there are: rows can be divided by tenant, and no write pays for an index nobody needs."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from django.apps import apps
from django.db import models

from identity.core.models import Link, TenantModel

OF_TENANTS = [model for model in apps.get_models() if issubclass(model, TenantModel | Link)]
by_model = pytest.mark.parametrize("model", OF_TENANTS, ids=lambda model: model._meta.label)


def columns(model: type[models.Model], fields: Sequence[str]) -> tuple[str, ...]:
    """Which columns, in which order; the direction of a column is of no matter to what may be left out."""
    named: dict[str, Any] = {field.name: field for field in model._meta.local_fields}
    return tuple(named[name.lstrip("-")].column for name in fields)


def whole_indexes(model: type[models.Model]) -> list[tuple[str, ...]]:
    """The columns of every index over all rows: of constraints, of foreign keys, and those that are named."""
    options: Any = model._meta
    return [
        *(columns(model, index.fields) for index in options.indexes if index.condition is None),
        *(columns(model, unique.fields) for unique in unique_constraints(model) if unique.condition is None),
        *((field.column,) for field in options.local_fields if field.db_index and not field.primary_key),
    ]


def unique_constraints(model: type[models.Model]) -> list[models.UniqueConstraint]:
    return [found for found in model._meta.constraints if isinstance(found, models.UniqueConstraint)]


def test_there_are_models_to_look_at():
    assert len(OF_TENANTS) > 20


@by_model
def test_an_index_begins_with_the_tenant(model: type[models.Model]):
    assert any(found[0] == "tenant_id" for found in whole_indexes(model))


@by_model
def test_what_is_unique_is_unique_in_a_tenant(model: type[models.Model]):
    """A database that keeps tenants on different machines can promise no more."""
    assert [found.name for found in unique_constraints(model) if found.fields[0] != "tenant"] == []


@by_model
def test_no_index_is_the_beginning_of_another(model: type[models.Model]):
    pairs = itertools.permutations(whole_indexes(model), 2)
    assert [(short, long) for short, long in pairs if long[: len(short)] == short] == []

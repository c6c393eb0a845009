"""Model instances from the rows of compiled statements, and for their inserts.

``Model.from_db`` and ``Model(…)`` go through all fields of the model, and set each attribute by itself, which
takes several times as long as filling the dictionary of the instance.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeVar

from django.db import models
from django.db.models.base import ModelState
from django.db.models.query_utils import DeferredAttribute
from django.db.models.signals import post_init, pre_init

_USUAL: Final = {"__init__": vars(models.Model)["__init__"], "from_db": vars(models.Model)["from_db"]}


class Loader:
    """Makes the same instances of a model as ``Model.from_db``, in less time.

    Raises:
        TypeError: instances need more than their values, because the model, one of its fields or a receiver
            of a signal changes how they are made.

    """

    def __init__(self, model: type[models.Model]) -> None:
        _check(model)
        self._model: Final = model

    def from_db(self, db: str, names: Sequence[str], values: Sequence[Any]) -> Any:
        """Return an instance with these values. Fields that are not named are deferred."""
        state = ModelState()
        state.adding, state.db = False, db
        made = self._model.__new__(self._model)
        made.__dict__.update(zip(names, values, strict=True), _state=state)
        return made


M = TypeVar("M", bound=models.Model)


def new(model: type[M], /, **values: Any) -> M:
    """Return the unsaved instance that ``model(**values)`` makes.

    Raises:
        KeyError: the model has no such column or relation.
        TypeError: as for ``Loader``.

    """
    names, defaults = _get_columns(model)
    state, columns = ModelState(), {}
    for name, value in values.items():
        attname, is_relation = names[name]
        columns[attname] = value
        if is_relation:
            columns[attname] = None if value is None else value.pk
            state.fields_cache[name] = value
    made = model.__new__(model)
    made.__dict__.update(
        {attname: columns[attname] if attname in columns else default() for attname, default in defaults},
        _state=state,
    )
    return made


@cache
def _get_columns(model: type[models.Model]) -> tuple[dict[str, tuple[str, bool]], list[tuple[str, Any]]]:
    """Return the columns by the names of values, and how the default of each column is made."""
    _check(model)
    fields: Any = model._meta.concrete_fields
    names = {name: (field.attname, False) for field in fields for name in (field.name, field.attname)}
    names |= {field.name: (field.attname, True) for field in fields if field.is_relation}
    names["pk"] = (model._meta.pk.attname, False)
    return names, [(field.attname, field._get_default) for field in fields]  # noqa: SLF001 - as the model


def _check(model: type[models.Model]) -> None:
    """Check that instances of a model are made of their values alone.

    Raises:
        TypeError: they are not.

    """
    fields = model._meta.concrete_fields
    has_listeners = pre_init.has_listeners(model) or post_init.has_listeners(model)
    is_usual = all(_find_attribute(model, name) is value for name, value in _USUAL.items())
    is_plain = all(isinstance(_find_attribute(model, field.attname), DeferredAttribute) for field in fields)
    if has_listeners or not is_usual or not is_plain:
        raise TypeError(f"instances of {model.__name__} cannot be made from their values alone")


def _find_attribute(model: type[models.Model], name: str) -> object:
    """Return an attribute of a class, without calling descriptors."""
    return next((vars(each)[name] for each in model.__mro__ if name in vars(each)), None)

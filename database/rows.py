"""Model instances from the rows of compiled statements.

``Model.from_db`` goes through all fields of the model, and sets each attribute by itself, which takes several
times as long as filling the dictionary of the instance.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.db import models
from django.db.models.base import ModelState
from django.db.models.query_utils import DeferredAttribute
from django.db.models.signals import post_init, pre_init

_USUAL: Final = {"__init__": vars(models.Model)["__init__"], "from_db": vars(models.Model)["from_db"]}


class Loader:
    """Makes the instances of a model that ``Model.from_db`` makes.

    Raises:
        TypeError: instances need more than their values, because the model, one of its fields or a receiver
            of a signal changes how they are made.

    """

    def __init__(self, model: type[models.Model]) -> None:
        fields = model._meta.concrete_fields
        has_listeners = pre_init.has_listeners(model) or post_init.has_listeners(model)
        is_usual = all(_find_attribute(model, name) is value for name, value in _USUAL.items())
        is_plain = all(
            isinstance(_find_attribute(model, field.attname), DeferredAttribute) for field in fields
        )
        if has_listeners or not is_usual or not is_plain:
            raise TypeError(f"instances of {model.__name__} cannot be made from their values alone")
        self._model: Final = model

    def from_db(self, db: str, names: Sequence[str], values: Sequence[Any]) -> Any:
        """Return an instance with these values. Fields that are not named are deferred."""
        state = ModelState()
        state.adding, state.db = False, db
        made = self._model.__new__(self._model)
        made.__dict__.update(zip(names, values, strict=True), _state=state)
        return made


def _find_attribute(model: type[models.Model], name: str) -> object:
    """Return an attribute of a class, without calling descriptors."""
    return next((vars(each)[name] for each in model.__mro__ if name in vars(each)), None)

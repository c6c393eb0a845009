"""Serializers that the endpoints of every app share."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework import serializers

from identity.core.errors import FieldError
from identity.rest.fields import Ids, Timestamp


class Record(serializers.Serializer[Any]):
    """A row that administrators edit. Unknown fields are ignored.

    A PATCH may repeat the fields in ``create_only``, but not change them. It ignores ``not_patched`` fields.
    """

    id = serializers.UUIDField(read_only=True)
    created_at = Timestamp(read_only=True)
    updated_at = Timestamp(read_only=True)

    create_only: ClassVar[tuple[str, ...]] = ()
    not_patched: ClassVar[tuple[str, ...]] = ()
    rules: ClassVar[Mapping[str, Callable[[Any], object]]] = {}
    unique: ClassVar[Mapping[str, Callable[[Any], QuerySet[Any]]]] = {}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse changes of ``create_only`` fields, and return the other fields that can be changed."""
        if self.instance is None:
            return attrs
        refuse_first(self._find_immutable(attrs))
        fixed = {*self.create_only, *self.not_patched}
        return {name: value for name, value in attrs.items() if name not in fixed}

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the errors of valid values that contradict the row or each other. See ``input_errors``."""
        return self._find_immutable(values)

    def _find_immutable(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        for name in self.create_only if self.instance is not None else ():
            if name in values and values[name] != getattr(self.instance, name):
                yield FieldError(name, "cannot be changed", "immutable")


def refuse_first(errors: Iterator[FieldError]) -> None:
    """Raise the first of these errors, if there is one.

    Raises:
        ValidationError: there is one.

    """
    for error in errors:
        raise serializers.ValidationError({error.field: error.rule}, code=error.code)


class IdsSerializer(serializers.Serializer[Any]):
    """A list of ids."""

    def __init__(self, *args: Any, ids_field: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ids_field = ids_field
        self.fields[ids_field] = Ids()

    @property
    def ids(self) -> list[str]:
        """The ids in the request, as text."""
        ids: list[str] = self.validated_data[self.ids_field]
        return ids

"""Serializers that the endpoints of every app share."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

from django.db.models import QuerySet
from rest_framework import serializers

from identity.core.errors import FieldError
from identity.rest.fields import Ids, Timestamp

_IMMUTABLE: Final = "cannot be changed"


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
        """Refuse changes of ``create_only`` fields."""
        if self.instance is None:
            return attrs
        for name in self.not_patched:
            attrs.pop(name, None)
        for name in self.create_only:
            if name in attrs and attrs.pop(name) != getattr(self.instance, name):
                raise serializers.ValidationError({name: _IMMUTABLE}, code="immutable")
        return attrs

    def find_conflicts(self, values: Mapping[str, Any]) -> Iterator[FieldError]:
        """Return the errors of valid values that contradict the row or each other. See ``input_errors``."""
        if self.instance is not None:
            for name in self.create_only:
                if name in values and values[name] != getattr(self.instance, name):
                    yield FieldError(name, _IMMUTABLE, "immutable")


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

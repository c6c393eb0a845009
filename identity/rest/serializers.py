"""Serializers that the endpoints of every app share."""

from typing import Any, ClassVar

from rest_framework import serializers

from identity.rest.fields import Ids, Timestamp


class Record(serializers.Serializer[Any]):
    """A row that administrators edit. Unknown fields are ignored.

    ``create_only`` are fields that a PATCH may repeat but not change, ``not_patched`` fields that a PATCH
    ignores.
    """

    id = serializers.UUIDField(read_only=True)
    created_at = Timestamp(read_only=True)
    updated_at = Timestamp(read_only=True)

    create_only: ClassVar[tuple[str, ...]] = ()
    not_patched: ClassVar[tuple[str, ...]] = ()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse changes of ``create_only`` fields; the stored value is accepted."""
        if self.instance is None:
            return attrs
        for name in self.not_patched:
            attrs.pop(name, None)
        for name in self.create_only:
            if name in attrs and attrs.pop(name) != getattr(self.instance, name):
                raise serializers.ValidationError({name: "cannot be changed"})
        return attrs


class IdsSerializer(serializers.Serializer[Any]):
    """A list of ids, in a member that the endpoint names."""

    def __init__(self, *args: Any, ids_field: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.ids_field = ids_field
        self.fields[ids_field] = Ids()

    @property
    def ids(self) -> list[str]:
        """The ids as they were sent."""
        given: list[str] = self.validated_data[self.ids_field]
        return given

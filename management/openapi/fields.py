"""From serializer fields to JSON Schema, as strict as the fields are."""

import re
from typing import Any, Final

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from management.openapi import words
from management.openapi.answers import Schema

_EMPTY: Final[Schema] = {"type": "string", "maxLength": 0}  # what the library adds where a pattern is


class FieldSchema(AutoSchema):
    """Reads what the kit's fields and serializers declare beyond what Django REST framework knows."""

    def _map_serializer_field(self, field: Any, direction: str, bypass_extensions: bool = False) -> Schema:  # noqa: FBT001, FBT002 - the library's signature
        schema: Schema = super()._map_serializer_field(field, direction, bypass_extensions)
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, serializers.JSONField):
            return {}  # anything at all, null included
        if direction == "request" and (pattern := getattr(field, "pattern", None)):
            schema["pattern"] = pattern
        return schema

    def _get_serializer_field_meta(self, field: Any, direction: str) -> Schema:
        meta: Schema = super()._get_serializer_field_meta(field, direction)
        if direction == "response":
            if getattr(field, "clearable", False):
                meta.pop("nullable", None)  # null clears it, and is never shown
            meta.pop("default", None)
        elif meta.get("default") in {"", None}:
            meta.pop("default", None)  # nothing, which may not even be sent
        return meta

    def _postprocess_serializer_schema(self, schema: Schema, serializer: Any, direction: str) -> Schema:
        schema = super()._postprocess_serializer_schema(schema, serializer, direction)
        properties: Schema = schema.get("properties", {})
        for name, part in properties.items():
            first, *others = part.get("oneOf", [{}])
            if others == [_EMPTY] and "pattern" in first and re.match(first["pattern"], ""):
                properties[name] = first  # which an empty text is already: it may be one of two only
        if direction == "request":
            self._as_sent(schema, properties, serializer)
        else:
            for part in properties.values():
                part.pop("readOnly", None)
            schema["required"] = list(properties)  # an answer has all of its fields, always
        for name, part in properties.items():
            if name in words.FIELDS and "$ref" not in part:
                part.setdefault("description", words.FIELDS[name])
        return schema

    def _as_sent(self, schema: Schema, properties: Schema, serializer: Any) -> None:
        """Say which fields have a second name, exclude one another, or have no place in a PATCH."""
        for second, first in getattr(serializer, "second_names", {}).items():
            properties[second] = properties[first] | {"description": f"Another name of `{first}`."}
        if serializer.partial:
            fixed = (*getattr(serializer, "create_only", ()), *getattr(serializer, "not_patched", ()))
            for name in fixed:
                properties.pop(name, None)
        elif one_of := getattr(serializer, "one_of", None):
            schema["oneOf"] = [{"required": [name]} for name in one_of]
        for part in properties.values():
            part.pop("writeOnly", None)

    def inline(self, serializer: serializers.BaseSerializer[Any]) -> Schema:
        """Describe an object in place."""
        schema: Schema = self._map_serializer(serializer, "request")
        return schema

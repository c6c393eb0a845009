"""Serializer fields as JSON Schema, as strict as the fields are."""

import re
from typing import Any, Final

from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from management.openapi import texts
from management.openapi.responses import Schema

_EMPTY: Final[Schema] = {"type": "string", "maxLength": 0}  # drf-spectacular adds it next to a pattern


class FieldSchema(AutoSchema):
    """Adds what our fields and serializers declare beyond Django REST framework."""

    def _map_serializer_field(self, field: Any, direction: str, bypass_extensions: bool = False) -> Schema:  # noqa: FBT001, FBT002 - the library's signature
        schema: Schema = super()._map_serializer_field(field, direction, bypass_extensions)
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, serializers.JSONField):
            return {}  # any JSON, including null
        if direction == "request" and (pattern := getattr(field, "pattern", None)):
            schema["pattern"] = pattern
        return schema

    def _get_serializer_field_meta(self, field: Any, direction: str) -> Schema:
        meta: Schema = super()._get_serializer_field_meta(field, direction)
        if direction == "response":
            if getattr(field, "clearable", False):
                meta.pop("nullable", None)  # null clears the field, and is never returned
            meta.pop("default", None)
        elif meta.get("default") in {"", None}:
            meta.pop("default", None)  # an empty default may not be a valid value
        return meta

    def _postprocess_serializer_schema(self, schema: Schema, serializer: Any, direction: str) -> Schema:
        schema = super()._postprocess_serializer_schema(schema, serializer, direction)
        properties: Schema = schema.get("properties", {})
        for name, part in properties.items():
            first, *others = part.get("oneOf", [{}])
            if others == [_EMPTY] and "pattern" in first and re.match(first["pattern"], ""):
                # The empty text would match both, and oneOf allows only one.
                properties[name] = {key: value for key, value in part.items() if key != "oneOf"} | first
        if direction == "request":
            self._complete_request(schema, properties, serializer)
        else:
            for part in properties.values():
                part.pop("readOnly", None)
            if not getattr(serializer, "is_sparse", False):
                missing = getattr(serializer, "may_be_missing", ())
                schema["required"] = [name for name in properties if name not in missing]
        component = type(serializer).__name__.removesuffix("Serializer")
        for name, part in properties.items():
            description = (
                texts.FIELDS.get(f"{component}.{name}")
                or part.get("description")
                or texts.FIELDS.get(name, "")
            )
            if description and "$ref" not in part:
                part["description"] = f"{description.removesuffix('.')}."
        return schema

    def _complete_request(self, schema: Schema, properties: Schema, serializer: Any) -> None:
        """Add aliases and alternative fields, and remove the fields that a PATCH cannot change."""
        for second, first in getattr(serializer, "second_names", {}).items():
            properties[second] = properties[first] | {"description": f"Alias of `{first}`."}
        if serializer.partial:
            fixed = (*getattr(serializer, "create_only", ()), *getattr(serializer, "not_patched", ()))
            for name in fixed:
                properties.pop(name, None)
        elif one_of := getattr(serializer, "one_of", None):
            schema["oneOf"] = [{"required": [name]} for name in one_of]
        for part in properties.values():
            part.pop("writeOnly", None)

    def inline(self, serializer: serializers.BaseSerializer[Any]) -> Schema:
        """Return the schema of a serializer, without a reference to a component."""
        schema: Schema = self._map_serializer(serializer, "request")
        return schema

"""API views as OpenAPI operations."""

import re
from typing import Any, Final

from drf_spectacular.drainage import warn
from drf_spectacular.plumbing import get_doc
from rest_framework import serializers
from rest_framework.serializers import ListSerializer, Serializer

from identity.http import areas
from identity.rest import assignment_view, declarations, viewsets
from identity.rest.assignment_view import AssignmentView
from identity.rest.serializers import IdsSerializer
from management.api import unknown_fields
from management.openapi import responses, security, texts
from management.openapi.fields import FieldSchema
from management.openapi.responses import JSON, Schema
from management.openapi.routes import route_name

_COMMON_MODULES: Final = {assignment_view.__name__, viewsets.__name__}
_IF_MATCH: Final[Schema] = {
    "name": "If-Match",
    "in": "header",
    "description": "The `ETag` of the resource as you read it. Without it, the change is made even if the "
    "resource was changed since.",
    "schema": {"type": "string"},
}


class OperationSchema(FieldSchema):
    """Describes one operation, from what its view declares."""

    view: Any

    @property
    def action(self) -> str:
        """The action of a viewset, or the HTTP method in lower case."""
        return declarations.get_action(self.view, self.method)

    @property
    def first_segment(self) -> str:
        """The first part of the path after ``/api/v1/`` or ``/api/``."""
        return re.sub(r"^/api/(v1/)?", "", self.path).split("/")[0]

    def get_operation(self, *args: Any, **kwargs: Any) -> Schema | None:
        """Return the operation; ``security`` is empty if it needs no authentication."""
        operation: Schema | None = super().get_operation(*args, **kwargs)
        if operation is not None:
            operation.setdefault("security", [])
        return operation

    def get_operation_id(self) -> str:
        """Return a name for generated clients: the nouns of the path, then the verb."""
        path = re.sub(r"^/api/(v1/)?", "", self.path)
        nouns = [part.replace("-", "_") for part in path.split("/") if not part.startswith("{")]
        verb = texts.OPERATION_VERBS.get("put" if self.method == "PUT" else self.action, self.action)
        if self._is_many():
            verb = "list"
        return "_".join(nouns if verb in {nouns[-1], "post"} else [*nouns, verb])

    def get_tags(self) -> list[str]:
        """Return the tag of the path's first segment."""
        return [texts.TAGS[self.first_segment][0]]

    def get_summary(self) -> str:
        """Return one line: the docstring's first sentence, or a common verb with the resource's name."""
        subject = _sentence(get_doc(type(self.view)))
        if self._is_many():
            return f"List {_inside(subject)}"
        if self.action == "put" and isinstance(self.view, AssignmentView):
            return f"Replace {_inside(subject)}"
        if self._is_common() and self.action in texts.SUMMARY_VERBS:
            return texts.SUMMARY_VERBS[self.action].format(a_thing=_with_article(self.view.resource_name))
        return _sentence(self._own_doc())

    def get_description(self) -> str:  # type: ignore[override]  # the library returns an optional text
        """Return the docstring after its first sentence, which is the summary."""
        if self.action in {"list", "retrieve"} or self._is_common():
            return ""
        rest = (own := self._own_doc().strip())[len(_sentence(own)) + 1 :].strip()
        return (rest[:1].upper() + rest[1:]).replace("``", "`")

    def get_auth(self) -> list[dict[str, list[str]]]:
        """Return the security requirements."""
        return security.requirements(self.view, route_name(self.path_regex))

    # ── Requests ──────────────────────────────────────────────────────────────────────────────────────────

    def _resolve_path_parameters(self, variables: list[str]) -> list[Schema]:
        return [
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": _id_description(name, self.first_segment),
                "schema": {"type": "string"},
            }
            for name in variables
        ]

    def _get_filter_parameters(self) -> list[Schema]:
        filters = getattr(self.view, "filters", {}) if self.action == "list" else ()
        serializer: Any = declarations.build_query_serializer(self.view, self.method)
        fields = serializer.fields.items() if serializer else ()
        return [*map(_query, filters), *(_query(name, field.help_text) for name, field in fields)]

    def _get_pagination_parameters(self) -> list[Schema]:
        paged = self.action == "list" and self._get_paginator()
        return [_query("page"), _query("page_size")] if paged else []

    def _get_parameters(self) -> list[Schema]:
        parameters: list[Schema] = super()._get_parameters()
        takes_if_match = self.action in getattr(self.view, "if_match_actions", ())
        return [*parameters, _IF_MATCH] if takes_if_match else parameters

    def _get_request_body(self, direction: str = "request") -> Schema | None:
        serializer: Any = declarations.build_request_serializer(self.view, self.method)
        if serializer is None:
            return None
        is_inline = isinstance(serializer, IdsSerializer)
        schema = self.inline(serializer) if is_inline else self._request_component(serializer)
        # All fields of a PATCH are optional, so its body is, too.
        is_optional = self._is_partial() or self.action in getattr(self.view, "optional_bodies", ())
        return {"required": not is_optional, "content": {JSON: {"schema": schema}}}

    def _request_component(self, serializer: Serializer[Any]) -> Schema:
        component: Schema = self.resolve_serializer(serializer, "request").ref
        return component

    def _is_partial(self) -> bool:
        return declarations.is_partial(self.view, self.method)

    # ── Responses ─────────────────────────────────────────────────────────────────────────────────────────

    def _get_response_bodies(self, direction: str = "response") -> Schema:
        member_api = hasattr(self.view, "failure_codes")
        success: Schema = {
            "description": "Success.",
            "content": {JSON: {"schema": responses.envelope(self._result())}},
        }
        headers = {"ETag": responses.ETAG} if self.action in getattr(self.view, "etag_actions", ()) else {}
        if self.path.startswith(areas.API_V1) and self._get_request_body() is not None:
            headers[unknown_fields.HEADER] = responses.UNKNOWN_FIELDS
        if headers:
            success["headers"] = headers
        return {"200": success} | responses.refusals(self._codes(member_api), member_api=member_api)

    def _codes(self, member_api: bool) -> list[str]:  # noqa: FBT001 - private
        secured = bool(self.get_auth())
        writes = self.method != "GET"
        has_body = self._get_request_body() is not None
        codes = {
            "400": writes or any(p["in"] == "query" for p in self._get_parameters()),
            "401": secured or writes,
            "403": secured or writes,
            "404": True,
            "412": self.action in getattr(self.view, "if_match_actions", ()),
            "413": has_body,
            "415": has_body,
            "429": writes and not secured,
            "500": member_api,
            "503": True,
        }
        return [code for code, possible in codes.items() if possible]

    def _result(self) -> Schema:
        serializer: Any = self._response_serializer()
        if serializer is None:
            return {"type": "null"}
        item_serializer: Any = serializer.child if isinstance(serializer, ListSerializer) else serializer
        item: Schema = self.resolve_serializer(item_serializer, "response").ref
        if not self._is_many():
            return item
        items = {"type": "array", "items": item}
        paginator = self._get_paginator() if self.action == "list" else None
        page: Schema = paginator.get_paginated_response_schema(items) if paginator else items
        return page

    def _response_serializer(self) -> Serializer[Any] | None:
        if not self._declares("response_serializers") and (self.method in {"DELETE", "PUT"}):
            return None
        return self._serializer("response_serializers")

    # ── What the view declares ────────────────────────────────────────────────────────────────────────────

    def _declares(self, attribute: str) -> bool:
        return self.action in getattr(self.view, attribute, {})

    def _serializer(self, attribute: str) -> Serializer[Any] | None:
        if self._declares(attribute):
            chosen = getattr(self.view, attribute)[self.action]
        else:
            chosen = getattr(self.view, "serializer_class", None)
            if chosen is None:
                warn(f"{type(self.view).__name__} declares no {attribute} for {self.action}")
        serializer: Serializer[Any] | None = chosen() if isinstance(chosen, type) else chosen
        return serializer

    def _is_many(self) -> bool:
        if isinstance(self.view, AssignmentView):
            return self.action == "get"
        if self._declares("response_serializers") and isinstance(
            self.view.response_serializers[self.action], serializers.ListSerializer
        ):
            return True
        return self.action == "list"

    def _is_list_view(self, serializer: Any = None) -> bool:
        return self._is_many()

    def _own_doc(self) -> str:
        return str(get_doc(getattr(self.view, self.action)))

    def _is_common(self) -> bool:
        """Return whether the method is one of `identity.rest`, or overrides one."""
        method = getattr(type(self.view), self.action)
        if method.__module__ in _COMMON_MODULES:
            return True
        return hasattr(self.view, "resource_name") and self.action == "retrieve"


def _sentence(doc: str) -> str:
    return re.split(r"[.;]\s|\.$|\n\n", doc.strip(), maxsplit=1)[0].replace("\n", " ")


def _inside(subject: str) -> str:
    """Return a subject in lower case for the inside of a sentence, except an abbreviation."""
    return subject if subject[1:2].isupper() else subject[:1].lower() + subject[1:]


def _with_article(thing: str) -> str:
    return f"{'an' if thing[0] in 'aeio' else 'a'} {thing}"


def _id_description(name: str, segment: str) -> str:
    if name == "id":
        return f"The id of {_with_article(texts.SINGULARS.get(segment, segment[:-1].replace('-', ' ')))}."
    return f"The id of {_with_article(name.removesuffix('_id').replace('_', ' '))}."


def _query(name: str, help_text: str | None = None) -> Schema:
    text, schema = texts.PARAMETERS.get(name, ("Only items with exactly this value.", {"type": "string"}))
    text = f"{help_text}." if help_text else text
    return {"name": name, "in": "query", "description": text, "schema": dict(schema)}

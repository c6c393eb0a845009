"""Endpoints of sets of links, which are read and replaced as a whole."""

from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from database import ids
from identity.core import assignments
from identity.core.assignments import Assignment
from identity.core.tenant_statements import SelectValues, uuid
from identity.rest.etags import etag, expected_versions
from identity.rest.serializers import IdsSerializer
from identity.rest.viewsets import Row


class AssignmentView(APIView):
    """GET the items of a parent; PUT replaces the whole set."""

    assignment: Assignment
    columns: tuple[str, ...]
    parent_thing: str
    serializer_class: type[BaseSerializer[Any]]
    tagged: ClassVar[frozenset[str]] = frozenset({"get"})
    guarded: ClassVar[frozenset[str]] = frozenset({"put"})

    def get(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return the items, newest first."""
        parent, version = self.parent()
        rows = self._items().all(parent_id=parent)
        return Response([self.shape(row) for row in rows], headers={"ETag": etag(parent, version)})

    @classmethod
    @cache
    def _items(cls) -> SelectValues:
        return SelectValues(lambda: cls.assignment.of(uuid("parent_id")).values_list(*cls.columns))

    @classmethod
    @cache
    def _versions(cls) -> SelectValues:
        parents = cls.assignment.parents._default_manager
        return SelectValues(lambda: parents.filter(pk=uuid("parent_id")).values_list("version"))

    def put(self, request: Request, *_: Any, **__: Any) -> Response:
        """Replace the set by the ids of the request."""
        parent = self.parent_id()
        sent = IdsSerializer(data=request.data, ids_field=self.assignment.ids_field)
        sent.is_valid(raise_exception=True)
        self.replace(parent, sent.ids, expected_versions(request, parent))
        return Response(None)

    def replace(self, parent: UUID, given: list[str], expected: frozenset[int] | None) -> None:
        """Replace the set. Subclasses may override it to call a service."""
        if not assignments.replace(self.assignment, parent, given, expected=expected):
            raise NotFound(f"{self.parent_thing} not found")

    def parent(self) -> tuple[UUID, int]:
        """Return the parent's id and version.

        Raises:
            NotFound: there is none.

        """
        parent = self.parent_id()
        for (version,) in self._versions().all(parent_id=parent):
            return parent, version
        raise NotFound(f"{self.parent_thing} not found")

    def shape(self, row: tuple[Any, ...]) -> Row:
        """Return the representation of an item from its columns."""
        return dict(zip(self.columns, row, strict=True))

    def parent_id(self) -> UUID:
        """Return the parent's id.

        Raises:
            NotFound: the id of the path is malformed.

        """
        parent = ids.parse(self.kwargs["pk"])
        if parent is None:
            raise NotFound(f"{self.parent_thing} not found")
        return parent

"""Endpoints that read and replace the links of a row, such as the scopes of a role."""

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
    """GET the items of a parent. PUT replaces them all."""

    assignment: Assignment
    columns: tuple[str, ...]
    parent_name: str
    serializer_class: type[BaseSerializer[Any]]
    etag_actions: ClassVar[frozenset[str]] = frozenset({"get"})
    if_match_actions: ClassVar[frozenset[str]] = frozenset({"put"})

    def get(self, request: Request, *_: Any, **__: Any) -> Response:
        """Return the items, newest first."""
        parent_id, version = self.find_parent()
        items = [self.to_representation(row) for row in self._items().all(parent_id=parent_id)]
        return Response(items, headers={"ETag": etag(parent_id, version)})

    @classmethod
    @cache
    def _items(cls) -> SelectValues:
        return SelectValues(lambda: cls.assignment.items_of(uuid("parent_id")).values_list(*cls.columns))

    @classmethod
    @cache
    def _versions(cls) -> SelectValues:
        parents = cls.assignment.parents._default_manager
        return SelectValues(lambda: parents.filter(pk=uuid("parent_id")).values_list("version"))

    def put(self, request: Request, *_: Any, **__: Any) -> Response:
        """Replace the items by those whose ids the request names."""
        parent_id = self.parent_id()
        serializer = IdsSerializer(data=request.data, ids_field=self.assignment.ids_field)
        serializer.is_valid(raise_exception=True)
        self.replace(parent_id, serializer.ids, expected_versions(request, parent_id))
        return Response(None)

    def replace(self, parent_id: UUID, item_ids: list[str], expected: frozenset[int] | None) -> None:
        """Replace the items. Subclasses may override it to call a service.

        Raises:
            NotFound: the parent does not exist.
            TokenTooOld: the items need a token that is at most ``ADMIN_PROOF_SECONDS`` old.

        """
        caller: Any = self.request.user
        is_proven = caller.has_signed_in_recently
        if not assignments.replace(
            self.assignment, parent_id, item_ids, expected=expected, is_proven=is_proven
        ):
            raise NotFound(f"{self.parent_name} not found")

    def find_parent(self) -> tuple[UUID, int]:
        """Return the parent's id and version.

        Raises:
            NotFound: the parent does not exist.

        """
        parent_id = self.parent_id()
        for (version,) in self._versions().all(parent_id=parent_id):
            return parent_id, version
        raise NotFound(f"{self.parent_name} not found")

    def to_representation(self, row: tuple[Any, ...]) -> Row:
        """Return an item as the response contains it, from its columns."""
        return dict(zip(self.columns, row, strict=True))

    def parent_id(self) -> UUID:
        """Return the parent's id from the path.

        Raises:
            NotFound: the id in the path is malformed.

        """
        parent_id = ids.parse(self.kwargs["pk"])
        if parent_id is None:
            raise NotFound(f"{self.parent_name} not found")
        return parent_id

"""The operations on the rows of a model, and who may run them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest

from identity.operator_kit import extensions, routes
from identity.operator_kit.operations import Operation


@dataclass(frozen=True, slots=True)
class OperationCatalogue:
    """The model's own operations, and those that apps above have registered for it."""

    model: type[Model]
    own_operations: Sequence[Operation]

    def all(self) -> list[Operation]:
        return [*self.own_operations, *extensions.registry[self.model].operations]

    def may_run_any(self, request: HttpRequest) -> bool:
        """Return whether the administrator's role allows any operation on these rows."""
        return request.user.has_perm(self._permission("change"))

    def may_run(self, request: HttpRequest, operation: Operation) -> bool:
        permissions = [self._permission(f"do-{operation.name}")]
        if operation.permission:
            permissions.append(operation.permission)
        return self.may_run_any(request) and request.user.has_perms(permissions)

    def get_available(self, request: HttpRequest, row: Any = None) -> list[Operation]:
        """Return the operations that the administrator may run now: on a row, or without one."""
        return [
            operation
            for operation in self.all()
            if not operation.hidden
            and operation.needs_row == (row is not None)
            and (row is None or operation.is_possible(row))
            and self.may_run(request, operation)
            and (row is None or operation.is_useful(row))
        ]

    def get_links(self, request: HttpRequest, row: Any = None) -> list[tuple[Operation, str]]:
        """Return the operations that the administrator may run now, with their URLs."""
        return [
            (operation, routes.operation_url(self.model, operation.name, row))
            for operation in self.get_available(request, row)
        ]

    def get(self, request: HttpRequest, name: str, *, with_row: bool) -> Operation:
        """Return an operation by its name.

        Raises:
            Http404: there is no such operation.
            PermissionDenied: the administrator may not run it.

        """
        for operation in self.all():
            if operation.name == name and operation.needs_row == with_row:
                if not self.may_run(request, operation):
                    raise PermissionDenied
                return operation
        raise Http404

    def _permission(self, verb: str) -> str:
        return f"{self.model._meta.app_label}.{verb}_{self.model._meta.model_name}"

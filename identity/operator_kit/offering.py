"""Which operations there are upon a kind of row, and for whom."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.urls import reverse

from identity.operator_kit.operations import Operation

_operations: dict[type, list[Operation]] = {}


def upon(model: type, *operations: Operation) -> None:
    """Let something be done to the rows of a model below."""
    _operations.setdefault(model, []).extend(operations)


class Offering:
    """The part of ``Pages`` that knows what may be done."""

    model: Any
    opts: Any
    operations: ClassVar[Sequence[Operation]] = ()

    def may_operate(self, request: HttpRequest) -> bool:
        """Tell whether the administrator may do anything here."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def may(self, request: HttpRequest, operation: Operation) -> bool:
        """Tell whether the administrator may do this here."""
        this = f"{self.opts.app_label}.do-{operation.name}_{self.opts.model_name}"
        needed = [this, operation.needs] if operation.needs else [this]
        return self.may_operate(request) and request.user.has_perms(needed)

    def all_operations(self) -> list[Operation]:
        """Return the operations, also those that apps above brought along."""
        return [*self.operations, *_operations.get(self.model, [])]

    def _open(self, request: HttpRequest, row: Any = None) -> list[tuple[Operation, str]]:
        """Return the operations that are possible now, with their addresses."""
        return [
            (one, self._operation_address(one.name, row))
            for one in self.all_operations()
            if not one.hidden
            and one.row_needed == (row is not None)
            and (row is None or one.possible(row))
            and self.may(request, one)
        ]

    def meant(self, request: HttpRequest, name: str, object_id: str | None) -> tuple[Operation, Any]:
        """Return an operation that the administrator may do, and its row.

        Raises:
            Http404: there is no such row or operation.
            PermissionDenied: it is not for this administrator.

        """
        if not self.may_operate(request):
            raise PermissionDenied
        row = None if object_id is None else self.get_object(request, unquote(object_id))  # type: ignore[attr-defined]
        for operation in self.all_operations():
            if operation.name == name and operation.row_needed == (row is not None):
                if not self.may(request, operation):
                    raise PermissionDenied
                return operation, row
        raise Http404

    def _operation_address(self, name: str, row: Any) -> str:
        base = f"admin:{self.opts.app_label}_{self.opts.model_name}_operate"
        if row is None:
            return reverse(f"{base}_all", args=[name])
        return reverse(base, args=[quote(row.pk), name])

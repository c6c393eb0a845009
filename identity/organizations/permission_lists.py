"""Refusals of ids that are not those of organization permissions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from database import ids
from database.list_parameters import among
from identity.core.errors import Invalid
from identity.core.records import UnknownIds
from identity.resources.models import Scope

_HINT: Final = "the scopes of API resources go to /organization-roles/:id/resource-scopes"


class ScopesOfAPIs(Invalid):
    """Some of the unknown ids are those of scopes of API resources."""

    reason = UnknownIds.reason

    def __init__(self, refusal: UnknownIds) -> None:
        super().__init__(refusal.field, f"{refusal.rule} ({_HINT})", code="unknown")


@contextmanager
def recognizing_scopes() -> Iterator[None]:
    """Say where scopes of API resources belong, if some of the unknown ids are theirs.

    Raises:
        ScopesOfAPIs: an unknown id is that of a scope of an API resource of this tenant.
        UnknownIds: an id is unknown, and none is that of such a scope.

    """
    try:
        yield
    except UnknownIds as refusal:
        named = [pk for text in refusal.ids if (pk := ids.parse(text)) is not None]
        if Scope.objects.filter(among("pk", named)).exists():
            raise ScopesOfAPIs(refusal) from None
        raise

"""The order of the sign-in buttons."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Event
from identity.core.records import Gone
from interaction.connectors.models import Connector

_LAST: Final = 32_768  # greater than every position


def arrange(connectors: Iterable[Connector]) -> list[Connector]:
    """Return connectors in the order of their buttons. Connectors without a position stay in order, last."""
    return sorted(connectors, key=lambda row: _LAST if row.position is None else row.position)


def find_arranged() -> list[Connector]:
    """Return the enabled social connectors of the tenant in the order of their buttons."""
    enabled = Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True)
    return arrange(enabled.order_by("-created_at", "-pk"))


@transaction.atomic
def move(pk: UUID, *, is_up: bool) -> None:
    """Move the button of a connector one place up or down. At the end of the list, nothing changes.

    Raises:
        Gone: the connector was deleted or disabled meanwhile.

    """
    # Locked, so that two concurrent moves do not write the same place twice.
    locked = Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True).select_for_update()
    rows = arrange(locked.order_by("-created_at", "-pk"))
    place = next((number for number, row in enumerate(rows) if row.pk == pk), None)
    if place is None:
        raise Gone
    other = place - 1 if is_up else place + 1
    if not 0 <= other < len(rows):
        return
    rows[place], rows[other] = rows[other], rows[place]
    for number, row in enumerate(rows):
        row.position = number
    Connector.objects.bulk_update(rows, ["position"])
    log.record(Event.CONNECTOR_UPDATE, id=pk, connector_id=rows[other].connector_id, fields=["position"])

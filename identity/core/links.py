"""Inserting and deleting many links between rows of a tenant in one statement."""

from collections.abc import Collection, Sequence
from uuid import UUID

import orjson
from django.db import connection

from database import ids
from database.list_parameters import as_array, as_json
from identity.core import tenancy
from identity.core.models import Link


def insert_links(model: type[Link], parent: str, parent_id: UUID, item: str, items: Sequence[UUID]) -> None:
    """Insert a link from the parent to each item, in this order. Existing links stay.

    ``parent`` and ``item`` name the link's foreign keys.
    """
    if not items:
        return
    columns, new = f"id, tenant_id, {parent}_id, {item}_id", [ids.new() for _ in items]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({columns}) SELECT new.id, %s, %s, new.item"  # noqa: S608
                " FROM UNNEST(%s::uuid[], %s::uuid[]) AS new (id, item) ON CONFLICT DO NOTHING",
                [tenancy.active_id(), parent_id, as_array(new), as_array(items)],
            )
            return
        pairs = orjson.dumps([[pk.hex, item_id.hex] for pk, item_id in zip(new, items, strict=True)]).decode()
        cursor.execute(
            f"INSERT OR IGNORE INTO {model._meta.db_table} ({columns})"  # noqa: S608 - no outside value
            " SELECT json_extract(value, '$[0]'), %s, %s, json_extract(value, '$[1]') FROM json_each(%s)",
            [tenancy.active_id(), parent_id.hex, pairs],
        )


def delete_other_links(
    model: type[Link], parent: str, parent_id: UUID, item: str, kept: Collection[UUID]
) -> set[UUID]:
    """Delete the links from the parent to all items but these, and return the items that it has lost.

    ``parent`` and ``item`` name the link's foreign keys.
    """
    is_postgresql = connection.vendor == "postgresql"
    are_kept = "= ANY(%s::uuid[])" if is_postgresql else "IN (SELECT value FROM json_each(%s))"
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {model._meta.db_table} WHERE tenant_id = %s AND {parent}_id = %s"  # noqa: S608
            f" AND NOT ({item}_id {are_kept}) RETURNING {item}_id",
            [
                tenancy.active_id(),
                parent_id if is_postgresql else parent_id.hex,
                as_array(kept) if is_postgresql else as_json(kept),
            ],
        )
        return {UUID(str(item_id)) for (item_id,) in cursor.fetchall()}

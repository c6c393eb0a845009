"""Very many copies of a row, written by one statement."""

from django.db import connection, models

_SOURCES = {
    "postgresql": ("gen_random_uuid()", "generate_series(1, %s)"),
    "sqlite": (
        "lower(hex(randomblob(16)))",
        "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %s) SELECT i FROM n)",
    ),
}


def multiply(row: models.Model, number: int, *unique: str) -> None:
    """Copy a row. Each copy has another id and another text in each of the ``unique`` columns."""
    new_id, numbers = _SOURCES[connection.vendor]
    random = {"postgresql": "md5(random()::text || random()::text)", "sqlite": new_id}[connection.vendor]
    columns = [str(field.column) for field in row._meta.local_concrete_fields]
    values = [
        new_id if column == "id" else random if column in unique else f"row.{column}" for column in columns
    ]
    table = row._meta.db_table
    key = row.pk if connection.vendor == "postgresql" else row.pk.hex
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} "  # noqa: S608
            f"FROM (SELECT * FROM {table} WHERE id = %s) AS row, {numbers} AS numbers",
            [key, number],
        )

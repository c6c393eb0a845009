"""psycopg's own cursor caches how it reads a statement only if it has at most 4,096 characters.

That cursor runs the compiled statements where prepared statements are switched off. Joined reads may be
longer: a round trip that they save costs more than reading their text.
"""

import sys

import pytest
from django.db import connection
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH

import config.urls
from database.statements import CompiledStatement, Statement
from identity.core.tenant_statements import JoinedSelects


def compiled(world) -> dict[str, str]:
    """The statements of the protocol that are compiled once, by their names in the code."""
    assert config.urls.urlpatterns  # every module of the server is imported
    found = {
        f"{module.__name__}.{name}": value
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("oidc.")
        for name, value in vars(module).items()
        if isinstance(value, Statement) and not isinstance(value, JoinedSelects)
    }
    with world.active():
        compiled = {name: each.for_this_thread() for name, each in found.items()}
    return {name: each.sql for name, each in compiled.items() if isinstance(each, CompiledStatement)}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no such cache")
def test_no_statement_of_the_protocol_is_too_long_for_the_cache(acme):
    statements = compiled(acme)

    assert "oidc.grants.families._of_client" in statements
    assert len(statements) > 10
    assert not [name for name, sql in statements.items() if len(sql) > MAX_CACHED_STATEMENT_LENGTH]

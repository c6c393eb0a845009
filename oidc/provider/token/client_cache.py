"""A cache of the clients that use the client credentials grant. It saves a query per request.

The statement that writes the audit entry checks that the application, its secret and the tenant's signing key
have not changed. If they have, it writes nothing, and the request runs again without the cache. So a change
takes effect at once in every worker.
"""

from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from audit import log
from audit.models import Entry
from identity.core import tenancy
from identity.core.tenant_statements import ConditionalInsert, number, text, uuid
from oidc.applications.models import Application, ApplicationRole
from oidc.keys.models import SigningKey
from oidc.provider.client_authentication import Client
from oidc.provider.grant_context import GrantContext

_MAX_CLIENTS: Final = 16_384  # of 2 KB each
_clients: Final[dict[tuple[str, str], Client]] = {}


class Outdated(Exception):
    """The request must run again without the cache: the client changed, or the cached client was refused."""


def _unchanged() -> QuerySet[Application]:
    return Application.objects.filter(
        Exists(
            SigningKey.objects.active().filter(
                Q(is_default=True) | Q(algorithm=text("algorithm")), pk=uuid("signing_key_id")
            )
        ),
        pk=uuid("client_pk"),
        version=number("client_version"),
        secret_digest=text("client_secret_digest"),
    )


def _unchanged_and_without_roles() -> QuerySet[Application]:
    return _unchanged().exclude(Exists(ApplicationRole.objects.filter(application=OuterRef("pk"))))


_insert_with_roles: Final = ConditionalInsert(log.INSERT, _unchanged)
_insert_without_roles: Final = ConditionalInsert(log.INSERT, _unchanged_and_without_roles)


def find(client_id: str) -> Client | None:
    """Return a client as it was when it was added, or None if it is not in the cache."""
    return _clients.get((tenancy.active_id(), client_id))


def add(client: Client) -> None:
    """Add a client that ``client_authentication.find`` returned."""
    if len(_clients) >= _MAX_CLIENTS:
        _clients.clear()
    _clients[tenancy.active_id(), client.application.client_id] = client


def write_if_unchanged(entry: Entry, client: Client, context: GrantContext) -> None:
    """Write an audit entry if a cached client, and the key that will sign its token, have not changed.

    Raises:
        Outdated: the client has changed, and nothing was written.

    """
    application = client.application
    # The roles of a client that has some are read at each request. They matter here only if it has none.
    insert = _insert_with_roles if client.has_roles else _insert_without_roles
    is_written = insert(
        entry,
        client_pk=application.pk,
        client_version=application.version,
        client_secret_digest=application.secret_digest,
        signing_key_id=context.key_id,
        algorithm=context.target.signing_alg,
    )
    if not is_written:
        _clients.pop((tenancy.active_id(), application.client_id), None)
        raise Outdated
    log.count(entry)

"""Applications that got tokens lately, as they were: what saves reading them again.

Nothing is believed of them. The statement that writes the audit entry asks the database whether the
application, its secret and the tenant's signing key are still the same; if not it writes nothing,
and the request begins anew with what is true now. So a change counts at once, for every worker.
"""

from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from audit import log
from audit.models import Entry
from identity.core import tenancy
from identity.core.tenant_statements import InsertIf, number, text, uuid
from oidc.applications.models import Application, ApplicationRole
from oidc.keys.models import SigningKey

_MOST: Final = 16_384  # at 2 KB each
_known: Final[dict[tuple[str, str], Application]] = {}


class Outdated(Exception):
    """The application, its secret or the signing key is another by now."""


def _unchanged() -> QuerySet[Application]:
    return Application.objects.filter(
        Exists(SigningKey.objects.active().filter(pk=uuid("signing_key_id"))),
        pk=uuid("client_pk"),
        version=number("client_version"),
        secret_digest=text("client_secret_digest"),
    )


def _unchanged_and_without_roles() -> QuerySet[Application]:
    return _unchanged().exclude(Exists(ApplicationRole.objects.filter(application=OuterRef("pk"))))


_with_roles: Final = InsertIf(log.INSERT, _unchanged)
_without_roles: Final = InsertIf(log.INSERT, _unchanged_and_without_roles)


def find(client_id: str) -> Application | None:
    """Return an application as ``client_authentication.find`` returned it some time ago."""
    return _known.get((tenancy.active_id(), client_id))


def remember(application: Application) -> None:
    """Keep an application that ``client_authentication.find`` returned."""
    if len(_known) >= _MOST:
        _known.clear()
    _known[tenancy.active_id(), application.client_id] = application


def write(entry: Entry, application: Application) -> None:
    """Write an audit entry if an application that ``find`` returned is still what it was.

    Raises:
        Outdated: it is not, and nothing was written.

    """
    # Roles that were taken away are missed by nobody: what they grant is read each time.
    statement = _with_roles if application.has_roles else _without_roles  # type: ignore[attr-defined]
    unchanged = statement(
        entry,
        client_pk=application.pk,
        client_version=application.version,
        client_secret_digest=application.secret_digest,
        signing_key_id=application.active_key_id,  # type: ignore[attr-defined]
    )
    if not unchanged:
        _known.pop((tenancy.active_id(), application.client_id), None)
        raise Outdated
    log.count(entry)

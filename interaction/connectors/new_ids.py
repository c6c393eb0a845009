"""The id of a connector that a form will create, so that the form can show the redirect URI.

The id is signed: a form can use only an id that this server has chosen for the tenant and provider.
"""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.core import signing

from database import ids
from identity.core import tenancy

FIELD: Final = "new_id"
_LIFETIME: Final = timedelta(days=1)


def new(connector_id: str) -> str:
    """Return a new id for a connector of a provider, signed."""
    return _signer(connector_id).sign(str(ids.new()))


def read(signed: str, connector_id: str) -> UUID | None:
    """Return the id of a form that was opened in this tenant within a day; None for any other text."""
    try:
        return ids.parse(_signer(connector_id).unsign(signed, max_age=_LIFETIME))
    except signing.BadSignature:
        return None


def _signer(connector_id: str) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"new connectors/{tenancy.active_id()}/{connector_id}")

"""Content that one page shows to one session, until it is discarded or has expired."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import orjson
from django.db.models import QuerySet
from django.utils import timezone

from identity.encryption import keyring
from identity.submissions.models import ShownOnce

PURPOSE: Final = "content that is shown once"
_SHOWN: Final = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Viewer:
    """An administrator's id and the key of the session, which is stored as a hash."""

    administrator: str
    session_key: str


def create(viewer: Viewer, page: str, content: Any, *, lifetime: timedelta = _SHOWN) -> UUID:
    """Store content for a page, and return the id by which the page finds it."""
    row = ShownOnce(
        administrator=viewer.administrator,
        session_hash=_hash(viewer),
        page=page,
        expires_at=timezone.now() + lifetime,
    )
    row.sealed_content = keyring.encrypt(orjson.dumps(content), purpose=PURPOSE, bound_to=bound_to(row))
    row.save(force_insert=True)
    return row.pk


def replace(viewer: Viewer, page: str, content: Any, *, lifetime: timedelta) -> UUID:
    """Store content for a page, and delete the page's earlier content for this session."""
    discard_page(viewer, page)
    return create(viewer, page, content, lifetime=lifetime)


def find(viewer: Viewer, page: str, shown_id: UUID) -> Any:
    """Return the content that a page shows, or None if it has expired or is for another session or page."""
    row = _rows(viewer, shown_id).filter(page=page, expires_at__gt=timezone.now()).first()
    if row is None:
        return None
    try:
        return orjson.loads(keyring.decrypt(row.sealed_content, purpose=PURPOSE, bound_to=bound_to(row)))
    except keyring.UnknownKey:
        return None


def take(viewer: Viewer, page: str, shown_id: UUID) -> Any:
    """Delete content, and return what ``find`` returns. Of concurrent calls, only one gets the content."""
    content = find(viewer, page, shown_id)
    deleted, _ = _rows(viewer, shown_id).filter(page=page).delete()
    return content if deleted else None


def discard(viewer: Viewer, shown_id: UUID) -> None:
    """Delete content before it expires."""
    _rows(viewer, shown_id).delete()


def discard_page(viewer: Viewer, page: str) -> None:
    """Delete all content of a page for this session."""
    ShownOnce.objects.filter(
        administrator=viewer.administrator, session_hash=_hash(viewer), page=page
    ).delete()


def bound_to(row: ShownOnce) -> str:
    """Return what the ciphertext is bound to, so that it cannot be decrypted in another row."""
    return f"{row.pk} {row.administrator} {row.session_hash} {row.page}"


def _rows(viewer: Viewer, shown_id: UUID) -> QuerySet[ShownOnce]:
    return ShownOnce.objects.filter(
        pk=shown_id, administrator=viewer.administrator, session_hash=_hash(viewer)
    )


def _hash(viewer: Viewer) -> str:
    return hashlib.sha256(viewer.session_key.encode()).hexdigest()

"""Sessions of administrators in the database, which stores only a hash of the session key."""

import hashlib
from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils import timezone


class SessionStore(db.SessionStore):
    """Django's session store, with hashed keys, so a copy of the table gives no access."""

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        found = self.model.objects.filter(
            session_key=_hash_key(self.session_key or ""), expire_date__gt=timezone.now()
        ).first()
        if found is None:
            self._session_key = None
        return found

    def exists(self, session_key: str) -> bool:
        return super().exists(_hash_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        """Return the unsaved row of this session."""
        row = super().create_model_instance(data)
        row.session_key = _hash_key(row.session_key)
        return row

    def delete(self, session_key: str | None = None) -> None:
        """Delete a session: this one, unless a key is given."""
        key = session_key or self.session_key
        if key is not None:
            super().delete(_hash_key(key))


def _hash_key(key: str) -> str:
    # The column holds 40 characters: 160 bits of the hash.
    return hashlib.sha256(key.encode()).hexdigest()[:40]

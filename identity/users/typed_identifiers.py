"""Identifiers typed at sign-in, as the audit log stores them: see ``audit.typed_identifiers``."""

from collections.abc import Iterable
from typing import Final

from django.conf import settings

from audit.typed_identifiers import Subject, TypedIdentifier
from database import ids
from identity.core import tenancy
from identity.core.tenancy import ActiveTenant
from identity.encryption import keyring
from identity.users import identifiers
from identity.users.models import User

_PURPOSE: Final = "identifiers in the audit log"


def build(text: str, *, name: str = "username", is_known: bool = False) -> TypedIdentifier:
    """Return a typed identifier with the key that finds its entries in the active tenant."""
    kind, key = identifiers.parse(text)
    return TypedIdentifier(text, kind.value, _key(f"{kind} {key}", keyring.current_id()), name, is_known)


def find_keys(text: str, tenant_id: str) -> list[str]:
    """Return the keys of an identifier in a tenant, one for each encryption key."""
    with tenancy.using(ActiveTenant(tenant_id, "")):
        return _keys_of(text)


def find_subject(text: str, tenant_id: str) -> Subject:
    """Return the user with this id or identifier in a tenant, or else only the identifier that was typed."""
    text = text.strip().replace("\0", "")
    pk = ids.parse(text)
    with tenancy.using(ActiveTenant(tenant_id, "")):
        user = (User.objects.filter(pk=pk) if pk else User.objects.find_by_identifier(text)).first()
        if user is not None:
            return get_subject([user])
        # The entries of a deleted user still have its id.
        return Subject(user_ids=(str(pk),) if pk else (), identifier_keys=tuple(_keys_of(text)))


def get_subject(users: Iterable[User], *typed: str) -> Subject:
    """Return users with the identifiers that they have now, and typed identifiers."""
    users = list(users)
    texts = [text for user in users for text in (user.username, user.email, user.phone) if text]
    keys = (key for text in (*texts, *typed) for key in _keys_of(text))
    pks = tuple(str(user.pk) for user in users)
    return Subject(user_ids=pks, identifier_keys=tuple(dict.fromkeys(keys)))


def _keys_of(text: str) -> list[str]:
    kind, key = identifiers.parse(text)
    return [_key(f"{kind} {key}", kid) for kid in settings.ENCRYPTION_KEYS]


def _key(identifier: str, kid: str) -> str:
    # Half of the hash is enough to distinguish identifiers.
    hashed = keyring.mac(f"{tenancy.active_id()} {identifier}", purpose=_PURPOSE, key_id=kid)[:16]
    return f"{kid}.{hashed.hex()}"

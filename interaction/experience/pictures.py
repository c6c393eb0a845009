"""The stored pictures of brandings, which are served from our own address.

Each belongs to one branding: the tenant's, or that of an application or an organization. A branding that
names a picture of another one gets a copy.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from identity.core import tenancy
from interaction.experience.images import formats
from interaction.experience.models import OwnedPicture, StoredPicture

# What a branding stores: a path below the tenant's address, which stays valid if BASE_URL is changed.
_PATH: Final = re.compile(r"/pictures/([0-9a-f]{32})")
_DIGEST: Final = re.compile(r"[0-9a-f]{32}")
PICTURES: Final = ("logo_url", "dark_logo_url", "favicon")


def find(digest: str) -> StoredPicture | OwnedPicture | None:
    """Return a picture of the tenant, if it has one with this digest."""
    if not _DIGEST.fullmatch(digest):
        return None
    return (
        StoredPicture.objects.filter(digest=digest).first()
        or OwnedPicture.objects.filter(digest=digest).first()
    )


def find_path(url: str) -> str:
    """Return the stored form of an address of one of the tenant's pictures; empty for other addresses."""
    path = url.removeprefix(tenancy.active().issuer)
    found = _PATH.fullmatch(path) if path != url else None
    return path if found and find(found[1]) else ""


def add_address(value: str) -> str:
    """Return the full address of a stored picture; other values are returned as they are."""
    return f"{tenancy.active().issuer}{value}" if _PATH.fullmatch(value) else value


def add_addresses(branding: Mapping[str, str]) -> dict[str, str]:
    """Return a branding with the full addresses of its pictures."""
    return {name: add_address(value) if name in PICTURES else value for name, value in branding.items()}


def store(branding: Mapping[str, str], **owner: Any) -> dict[str, str]:
    """Store the uploaded pictures of a branding, and delete those that it no longer uses.

    ``owner`` is the ``application`` or the ``organization``; without one, it is the tenant's branding. The
    caller has locked the owner, or creates it, and has opened a transaction.
    """
    stored = {name: _store(value, owner) if name in PICTURES else value for name, value in branding.items()}
    used = [found[1] for name in PICTURES if (found := _PATH.fullmatch(stored.get(name, "")))]
    _model(owner).objects.filter(**owner).exclude(digest__in=used).delete()
    return stored


def _model(owner: Mapping[str, Any]) -> Any:
    return OwnedPicture if owner else StoredPicture


def _store(value: str, owner: Mapping[str, Any]) -> str:
    model = _model(owner)
    if value.startswith(formats.SCHEME):
        content_type = value.removeprefix(formats.SCHEME).partition(";")[0]
        content = formats.from_data_url(value)
    elif (path := _PATH.fullmatch(value)) and not model.objects.filter(digest=path[1], **owner).exists():
        other = find(path[1])
        if other is None:  # deleted since the value was checked
            return ""
        content_type, content = other.content_type, bytes(other.content)
    else:
        return value
    ids = "".join(str(row.pk) for row in owner.values()).encode()
    digest = hashlib.sha256(content_type.encode() + b"\0" + content + ids).hexdigest()[:32]
    picture = model(digest=digest, content_type=content_type, content=content, **owner)
    model.objects.bulk_create([picture], ignore_conflicts=True)  # it may be stored already
    return f"/pictures/{digest}"

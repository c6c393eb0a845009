"""The stored pictures of a tenant's brand, which are served from our own address."""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from identity.core import tenancy
from interaction.experience.images import formats
from interaction.experience.models import StoredPicture

# Stored in the branding, below the tenant's address: it survives a change of BASE_URL.
_PATH: Final = re.compile(r"/pictures/([0-9a-f]{32})")
_DIGEST: Final = re.compile(r"[0-9a-f]{32}")
PICTURES: Final = ("logo_url", "dark_logo_url", "favicon")


def find(digest: str) -> StoredPicture | None:
    """Return a picture of the tenant, if it has one with this digest."""
    return StoredPicture.objects.filter(digest=digest).first() if _DIGEST.fullmatch(digest) else None


def find_path(url: str) -> str:
    """Return the stored form of an address of one of the tenant's pictures; empty for other addresses."""
    path = url.removeprefix(tenancy.active().issuer)
    found = _PATH.fullmatch(path) if path != url else None
    return path if found and StoredPicture.objects.filter(digest=found[1]).exists() else ""


def add_address(value: str) -> str:
    """Return the full address of a stored picture; other values are returned as they are."""
    return f"{tenancy.active().issuer}{value}" if _PATH.fullmatch(value) else value


def add_addresses(branding: Mapping[str, str]) -> dict[str, str]:
    """Return a branding with the full addresses of its pictures."""
    return {name: add_address(value) if name in PICTURES else value for name, value in branding.items()}


def store(branding: Mapping[str, str]) -> dict[str, str]:
    """Store the uploaded pictures of a branding, and delete those that it no longer uses.

    The caller has locked the experience and opened a transaction.
    """
    stored = {
        name: _store(value) if name in PICTURES and value.startswith(formats.SCHEME) else value
        for name, value in branding.items()
    }
    used = [found[1] for name in PICTURES if (found := _PATH.fullmatch(stored.get(name, "")))]
    StoredPicture.objects.exclude(digest__in=used).delete()
    return stored


def _store(url: str) -> str:
    content_type = url.removeprefix(formats.SCHEME).partition(";")[0]
    content = formats.from_data_url(url)
    digest = hashlib.sha256(content_type.encode() + b"\0" + content).hexdigest()[:32]
    picture = StoredPicture(digest=digest, content_type=content_type, content=content)
    StoredPicture.objects.bulk_create([picture], ignore_conflicts=True)  # it may be stored already
    return f"/pictures/{digest}"

"""Versions of rows as entity tags (RFC 9110 section 8.8.3), and what ``If-Match`` names."""

import re
from typing import Final

from rest_framework.request import Request

from identity.core.records import Stale

# A weak tag never matches here (RFC 9110 section 13.1.1).
_ETAG: Final = re.compile(r'(?<!W/)"([0-9a-z-]{1,36})-([0-9]{1,9})"')


def etag(pk: object, version: int) -> str:
    """Return the strong validator of a row's version (RFC 9110 section 8.8.1)."""
    return f'"{pk}-{version}"'


def expected_versions(request: Request, pk: object) -> frozenset[int] | None:
    """Return the versions of a row that ``If-Match`` names, or None if it allows any version."""
    header = request.META.get("HTTP_IF_MATCH")
    if header is None or header.strip() == "*":
        return None
    named = (_ETAG.fullmatch(tag.strip()) for tag in header.split(","))
    return frozenset(int(tag[2]) for tag in named if tag and tag[1] == str(pk))


def check_unversioned(request: Request) -> None:
    """Check that ``If-Match`` names no version, because the rows of this route have none.

    Raises:
        Stale: ``If-Match`` names a version, which cannot match.

    """
    if expected_versions(request, "") is not None:
        raise Stale

"""Which applications name a signature algorithm."""

from collections.abc import Iterator
from typing import Final

from oidc.applications.models import Application

FIELDS: Final = ("id_token_signed_response_alg", "userinfo_signed_response_alg")


def find(algorithm: str) -> Iterator[str]:
    """Yield a text for each field of an application of the tenant that names an algorithm."""
    for field in FIELDS:
        named = Application.objects.filter(**{field: algorithm}).order_by("name", "pk")
        for name in named.values_list("name", flat=True):
            yield f"{field} of the application “{name}”"

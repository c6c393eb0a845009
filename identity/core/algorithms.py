"""The names of the algorithms that sign tokens."""

from django.db import models


class Algorithm(models.TextChoices):
    """Signature algorithms of JWS (RFC 7518 section 3.1, RFC 8037 section 3.1)."""

    ES256 = "ES256", "ES256"
    RS256 = "RS256", "RS256"
    PS256 = "PS256", "PS256"
    EDDSA = "EdDSA", "EdDSA"

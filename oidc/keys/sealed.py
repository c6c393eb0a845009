"""Private halves of signing keys, as they lie in the database."""

from typing import Final

from identity.core.sealed import Sealed
from oidc.keys import signing
from oidc.keys.models import SigningKey

SEALED: Final = [Sealed("signing_keys", SigningKey.objects.all, "sealed_private_key", signing.PURPOSE)]

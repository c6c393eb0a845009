"""The JSON Web Key Set (RFC 7517)."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from identity.core.tenant_statements import Select
from oidc.keys.algorithms import SIGNERS
from oidc.keys.models import SigningKey
from oidc.public_json import cacheable_json

_PUBLISHED: Final = Select(lambda: SigningKey.objects.in_order().only("pk", "algorithm", "public_jwk"))


@csrf_exempt  # another method gets 405, and not 403 for a missing CSRF token
@require_safe
def jwks(request: HttpRequest) -> HttpResponse:
    """List the tenant's keys: the active ones, the next ones, then the previous ones."""
    return cacheable_json(
        request,
        {
            "keys": [
                # RFC 7517 section 4: only these members, so that no private one can be published.
                {name: key.public_jwk[name] for name in SIGNERS[key.algorithm].members}
                | {"kid": str(key.pk), "use": "sig", "alg": key.algorithm}
                for key in _PUBLISHED.all()
            ]
        },
    )

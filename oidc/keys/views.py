"""The JSON Web Key Set (RFC 7517)."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from identity.core.tenant_statements import Select
from oidc.keys.models import SigningKey
from oidc.public_json import cacheable_json

# RFC 7517 section 4: exactly these members, so that nothing private can ever slip in.
_MEMBERS: Final = ("kty", "crv", "x", "y")
_published: Final = Select(lambda: SigningKey.objects.in_order().only("pk", "public_jwk"))


@csrf_exempt  # another method is refused for what it is, not for want of a form's token
@require_safe
def jwks(request: HttpRequest) -> HttpResponse:
    """List the tenant's keys: the active one, the next one, then those whose tokens still verify."""
    return cacheable_json(
        request,
        {
            "keys": [
                {name: key.public_jwk[name] for name in _MEMBERS}
                | {"kid": str(key.pk), "use": "sig", "alg": "ES256"}
                for key in _published.all()
            ]
        },
    )

"""The JSON Web Key Set (RFC 7517)."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from identity.core import tenancy
from identity.core.tenant_statements import Select, SelectValues
from identity.http.answers import Answer
from oidc.keys.algorithms import SIGNERS
from oidc.keys.models import SigningKey
from oidc.public_json import cacheable_json, encode

_MOST: Final = 1_024  # key sets in memory, one for each tenant, of about 400 bytes for each key
_IDS: Final = SelectValues(lambda: SigningKey.objects.in_order().values_list("pk"))
_PUBLISHED: Final = Select(lambda: SigningKey.objects.in_order().only("pk", "algorithm", "public_jwk"))
# By tenant, with the ids of the keys in order. The public half of a key never changes. Threads replace an
# entry as a whole, so that another thread never reads the ids of one set with the answer of another.
_kept: Final[dict[str, tuple[tuple[Any, ...], Answer]]] = {}


def get_key_set() -> Answer:
    """Return the active tenant's keys: the active ones, the next ones, then the previous ones.

    The ids are read each time, so that a rotation or deletion on one worker counts on all workers at once.
    """
    tenant_id = tenancy.active_id()
    kept = _kept.get(tenant_id)
    if kept is not None and kept[0] == tuple(pk for (pk,) in _IDS.all()):
        return kept[1]
    keys = _PUBLISHED.all()
    answer = _encode(keys)
    if len(_kept) >= _MOST:
        _kept.clear()
    # Not by the ids of the first query, because the keys may have changed since.
    _kept[tenant_id] = (tuple(key.pk for key in keys), answer)
    return answer


def _encode(keys: list[SigningKey]) -> Answer:
    return encode(
        {
            "keys": [
                # RFC 7517 section 4: only these members, so that no private one can be published.
                {name: key.public_jwk[name] for name in SIGNERS[key.algorithm].members}
                | {"kid": str(key.pk), "use": "sig", "alg": key.algorithm}
                for key in keys
            ]
        }
    )


@csrf_exempt  # another method gets 405, and not 403 for a missing CSRF token
@require_safe
def jwks(request: HttpRequest) -> HttpResponse:
    """Return the key set of this tenant."""
    return cacheable_json(request, get_key_set())

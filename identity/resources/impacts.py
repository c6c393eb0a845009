"""The scopes that are deleted with an API resource: see ``identity.core.impacts``."""

from typing import Final

from identity.core.impacts import Loss, Verb
from identity.resources.models import Scope

LOSSES: Final = [
    Loss(
        "resources.Resource", Verb.DELETE, "scopes", lambda resource: Scope.objects.filter(resource=resource),
        "scope is deleted", "scopes are deleted",
    ),
]  # fmt: skip

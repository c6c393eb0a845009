"""The scopes that are deleted with an API resource: see ``identity.core.impacts``."""

from typing import Final

from django.utils.translation import ngettext_lazy

from identity.core.impacts import Loss, Verb
from identity.resources.models import Scope

LOSSES: Final = [
    Loss(
        "resources.Resource",
        Verb.DELETE,
        "scopes",
        lambda resource: Scope.objects.filter(resource=resource),
        ngettext_lazy("%(number)s scope is deleted", "%(number)s scopes are deleted", "count"),
    ),
]

"""The application, with one setting of limits as the file TEST_LIMITS says (``LIMIT_NETWORK_CODES 3``).

If the file is empty, the settings are those of the environment.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from tests.support.counted import application as counted  # first: it prepares the apps

# isort: split
from config.route_limits.page import RULES
from identity.limits import rules
from identity.limits.rules import Limit, Lock

_FILE: Final = Path(os.environ["TEST_LIMITS"])
_RULES: Final = [
    rule for rule in vars(rules).values() if isinstance(rule, Limit | Lock) and rule.kind in RULES
]


def number_of(rule: Limit | Lock) -> int:
    return rule.failures if isinstance(rule, Lock) else rule.max_hits


_CONFIGURED: Final = [number_of(rule) for rule in _RULES]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Set the rules as the file says, then serve."""
    setting, _, number = _FILE.read_text().partition(" ")
    for rule, configured in zip(_RULES, _CONFIGURED, strict=True):
        most = configured
        if RULES[rule.kind][1] == setting:
            most = int(number) * 3 // 4 if rule is rules.TENANT_TEXT_CODES else int(number)
        object.__setattr__(rule, "failures" if isinstance(rule, Lock) else "max_hits", most)
    return counted(environ, start_response)

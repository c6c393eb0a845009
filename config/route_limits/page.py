"""Print ``docs/security/limits-by-route.md``: ``python -m config.route_limits.page``."""

import os
from typing import Final

if __name__ == "__main__":  # the page is generated without a server
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings_test")

from config.route_limits.kinds import Limited, Rule
from config.route_limits.routes import ROUTES
from identity.limits import rules

# The name and the setting of each rule.
RULES: Final = {
    rules.SIGN_INS.kind: ("sign-ins", "LIMIT_ADDRESS_SIGN_INS"),
    rules.REGISTRATIONS.kind: ("registrations", "LIMIT_ADDRESS_REGISTRATIONS"),
    rules.CODE_SENDS.kind: ("codes sent", "LIMIT_ADDRESS_CODE_SENDS"),
    rules.WRONG_CODES.kind: ("wrong codes", "LIMIT_ADDRESS_WRONG_CODES"),
    rules.TOKEN_FAILURES.kind: ("failed token requests", "LIMIT_ADDRESS_TOKEN_FAILURES"),
    rules.PARKED_WITHOUT_COOKIE.kind: ("pending requests, no cookie", "LIMIT_ADDRESS_NEW_PARKED_REQUESTS"),
    rules.PARKED.kind: ("pending requests", "LIMIT_ADDRESS_PARKED_REQUESTS"),
    rules.CLIENT_FAILURES.kind: ("wrong secrets, at an address", "LIMIT_CLIENT_FAILURES"),
    rules.MEMBER_JOINS.kind: ("existing users joined, of an application", "LIMIT_MEMBER_JOINS"),
    rules.PROFILE_CHANGES.kind: ("changes of the profile", "LIMIT_PROFILE_CHANGES"),
    rules.PAIR.kind: ("failures, at an address", "LOCK_PAIR_FAILURES"),
    rules.IDENTIFIER.kind: ("failures, anywhere", "LOCK_IDENTIFIER_FAILURES"),
    rules.KNOWN_BROWSER.kind: ("failures, in a known browser", "LOCK_KNOWN_BROWSER_FAILURES"),
    rules.CODE_PAUSE.kind: ("pause, of a purpose and network", "LIMIT_CODE_PAUSE_SECONDS"),
    rules.CODES.kind: ("codes, of a network", "LIMIT_NETWORK_CODES"),
    rules.CODES_FROM_ANYWHERE.kind: ("codes, anywhere", "LIMIT_IDENTIFIER_CODES"),
    rules.CODES_SECOND_STEP.kind: ("codes of second steps, anywhere", "LIMIT_IDENTIFIER_CODES"),
    rules.CODES_KNOWN_BROWSER.kind: ("codes, in a known browser", "LIMIT_NETWORK_CODES"),
    rules.CODES_KNOWN_BROWSERS.kind: ("codes, in all known browsers", "LIMIT_IDENTIFIER_CODES"),
    rules.TEXT_MESSAGES.kind: ("text messages of the tenant", "LIMIT_TENANT_TEXT_MESSAGES"),
    rules.ADMINISTRATOR.kind: ("failures, at an address", "LOCK_PAIR_FAILURES"),
    rules.ADMINISTRATOR_FROM_ANYWHERE.kind: ("failures, anywhere", "LOCK_IDENTIFIER_FAILURES"),
    rules.RECOVERIES.kind: ("links to administrators, of a network", "LIMIT_NETWORK_CODES"),
    rules.RECOVERIES_FROM_ANYWHERE.kind: ("links to administrators, anywhere", "LIMIT_IDENTIFIER_CODES"),
    rules.SECOND_FACTOR.kind: ("wrong second factors, anywhere", "LOCK_SECOND_FACTOR_FAILURES"),
    rules.SECOND_STEP.kind: ("wrong second steps, anywhere", "LOCK_PAIR_FAILURES"),
}

_HEADING: Final = """# Limits by route

This page lists the limits of every route that needs no management token.
[Limits and headers](limits.md) has the numbers, and the responses when a limit is reached.
`config/route_limits` generates this page; tests compare it with the served routes, and reach each
of these limits over HTTP.

In addition, the size of every request is limited, and every request that hashes a password waits
for a hashing place or gets 503.

| Route | By address | By identifier or account | By client, application or tenant | Note |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the Markdown page with all limits."""
    return _HEADING + "".join(_row(route, limited) for route, limited in ROUTES.items())


def _row(route: str, limited: Limited) -> str:
    parts = (_cell(part) for part in (limited.address, limited.subject, limited.caller))
    return f"| `{route}` | {' | '.join(parts)} | {limited.note} |\n"


def _cell(limits: tuple[Rule, ...]) -> str:
    return "<br>".join(f"{name} (`{setting}`)" for name, setting in (RULES[rule.kind] for rule in limits))


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())

"""The limits of every route that needs no management token, by address, by subject and by caller.

``python -m config.route_limits`` prints them as ``docs/security/limits-by-route.md``. Tests compare the table
with the served routes, and reach each limit over HTTP. A new route needs a row here, or the tests fail.
"""

import os
from dataclasses import dataclass
from typing import Final

if __name__ == "__main__":  # the page is generated without a server
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings_test")

from identity.limits import rules
from identity.limits.rules import Limit, Lock

Rule = Limit | Lock


@dataclass(frozen=True, slots=True)
class Limited:
    """The limits of a route: by the client's address, by the user's account, and by the calling client."""

    address: tuple[Rule, ...] = ()
    subject: tuple[Rule, ...] = ()
    caller: tuple[Rule, ...] = ()
    note: str = ""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All limits of the route."""
        return self.address + self.subject + self.caller


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
    rules.PAIR.kind: ("failures, at an address", "LOCK_PAIR_FAILURES"),
    rules.IDENTIFIER.kind: ("failures, anywhere", "LOCK_IDENTIFIER_FAILURES"),
    rules.KNOWN_BROWSER.kind: ("failures, in a known browser", "LOCK_KNOWN_BROWSER_FAILURES"),
    rules.CODE_PAUSE.kind: ("pause, of a purpose and network", "LIMIT_CODE_PAUSE_SECONDS"),
    rules.CODES.kind: ("codes, of a network", "LIMIT_NETWORK_CODES"),
    rules.CODES_FROM_ANYWHERE.kind: ("codes, anywhere", "LIMIT_IDENTIFIER_CODES"),
    rules.CODES_KNOWN_BROWSER.kind: ("codes, in a known browser", "LIMIT_NETWORK_CODES"),
    rules.TEXT_MESSAGES.kind: ("text messages of the tenant", "LIMIT_TENANT_TEXT_MESSAGES"),
    rules.ADMINISTRATOR.kind: ("failures, at an address", "LOCK_PAIR_FAILURES"),
    rules.ADMINISTRATOR_FROM_ANYWHERE.kind: ("failures, anywhere", "LOCK_IDENTIFIER_FAILURES"),
    rules.RECOVERIES.kind: ("links to administrators, of a network", "LIMIT_NETWORK_CODES"),
    rules.RECOVERIES_FROM_ANYWHERE.kind: ("links to administrators, anywhere", "LIMIT_IDENTIFIER_CODES"),
    rules.SECOND_FACTOR.kind: ("wrong second factors, anywhere", "LOCK_SECOND_FACTOR_FAILURES"),
    rules.SECOND_STEP.kind: ("wrong second steps, anywhere", "LOCK_PAIR_FAILURES"),
}

_LOCKS: Final = (rules.PAIR, rules.IDENTIFIER)
_CODE_SENDS_SIGNED_IN: Final = (rules.CODE_PAUSE, rules.CODES, rules.CODES_FROM_ANYWHERE)
_CODE_SENDS: Final = (*_CODE_SENDS_SIGNED_IN, rules.CODES_KNOWN_BROWSER)
_ADMINISTRATOR: Final = (rules.ADMINISTRATOR, rules.ADMINISTRATOR_FROM_ANYWHERE, rules.SECOND_STEP)
_RECOVERIES: Final = (rules.RECOVERIES, rules.RECOVERIES_FROM_ANYWHERE)

_PASSWORD: Final = Limited((rules.SIGN_INS,), (*_LOCKS, rules.KNOWN_BROWSER))
_SEND: Final = Limited((rules.CODE_SENDS,), _CODE_SENDS, (rules.TEXT_MESSAGES,))
_ENTER_CODE: Final = Limited((rules.SIGN_INS, rules.WRONG_CODES), note="five attempts per code")
_SEND_AND_ENTER_CODE: Final = Limited(
    (rules.CODE_SENDS, rules.SIGN_INS, rules.WRONG_CODES),
    _CODE_SENDS,
    (rules.TEXT_MESSAGES,),
    note="five attempts per code",
)
_STORES_REQUEST: Final = Limited(
    (rules.PARKED_WITHOUT_COOKIE, rules.PARKED), note="at most twenty per browser"
)
_TOKEN_REQUEST: Final = Limited((rules.TOKEN_FAILURES,), (), (rules.CLIENT_FAILURES,))
_ADMIN_SIGN_IN: Final = Limited((rules.SIGN_INS,), _ADMINISTRATOR)
_ADMIN_SITE: Final = Limited((rules.SIGN_INS,), (*_ADMINISTRATOR, *_RECOVERIES))
_CONFIRM_PASSWORD: Final = Limited((), _LOCKS, note="needs a session; asks for the password")
_FACTOR: Final = Limited((rules.SIGN_INS,), (rules.SECOND_FACTOR,), note="needs a pending sign-in")
_SEND_FACTOR: Final = Limited(
    (rules.CODE_SENDS,),
    _CODE_SENDS_SIGNED_IN,
    (rules.TEXT_MESSAGES,),
    note="needs a pending sign-in or a session",
)
_FACTOR_PAGE: Final = Limited(
    (rules.SIGN_INS, rules.CODE_SENDS),
    (rules.SECOND_FACTOR, *_CODE_SENDS_SIGNED_IN),
    (rules.TEXT_MESSAGES,),
    note="needs a pending sign-in or a session",
)
_SET_UP: Final = Limited((rules.SIGN_INS,), note="needs a pending sign-in")
_CONFIRM_FACTORS: Final = Limited((), _LOCKS, note="needs a session; may ask for the password")
_SOCIAL: Final = Limited((rules.SIGN_INS,))


def _free(note: str) -> Limited:
    """Return a route without limits; the note says why it needs none."""
    return Limited(note=note)


_PENDING: Final = _free("needs a pending sign-in")
_STATIC: Final = _free("reads from memory")
_READS: Final = _free("only reads")
_SESSION: Final = _free("needs a session")
_CONFIRMED: Final = _free("needs a session that was confirmed a moment ago")
_TOKEN: Final = _free("needs an access token; only reads")
_THIRD_PARTY: Final = _free("needs an application's token with the member role")

ROUTES: Final[dict[str, Limited]] = {
    "GET /healthz": _STATIC,
    "GET /readyz": _free("checks that the database responds"),
    "GET /metrics": _free("needs `METRICS_TOKEN`, and is off without it"),
    "GET /admin": _STATIC,
    "GET /admin/*": _free("only the pages to sign in are public"),
    "POST /admin/*": _ADMIN_SITE,
    "GET /.well-known/openid-configuration": _STATIC,
    "GET /.well-known/oauth-authorization-server": _STATIC,
    "GET /.well-known/jwks.json": _READS,
    "GET /oidc/.well-known/openid-configuration": _STATIC,
    "GET /oidc/authorize": _STORES_REQUEST,
    "POST /oidc/authorize": _STORES_REQUEST,
    "GET /oidc/authorize/:request_id": _free("needs a pending request of this browser"),
    "POST /oidc/token": _TOKEN_REQUEST,
    "POST /oidc/revoke": _TOKEN_REQUEST,
    "GET /oidc/userinfo": _TOKEN,
    "POST /oidc/userinfo": _TOKEN,
    "GET /oidc/end-session": _free(
        "ends the session of this browser or, if there is none, that of the ID token"
    ),
    "POST /oidc/end-session": _free(
        "ends the session of this browser or, if there is none, that of the ID token"
    ),
    "GET /api/interaction/sign-in-experience": _READS,
    "POST /api/interaction/sign-in": _PASSWORD,
    "POST /api/interaction/register": Limited((rules.REGISTRATIONS,)),
    "POST /api/interaction/verification-code": _SEND,
    "POST /api/interaction/verify-code": _ENTER_CODE,
    "POST /api/interaction/forgot-password": Limited((rules.SIGN_INS,), note="needs a verified code"),
    "GET /api/interaction/next": _READS,
    "POST /api/interaction/passkey/options": Limited((rules.SIGN_INS,)),
    "POST /api/interaction/passkey/verify": Limited((rules.SIGN_INS,), note="no secret to guess"),
    "POST /api/interaction/mfa/totp": _FACTOR,
    "POST /api/interaction/mfa/backup-code": _FACTOR,
    "POST /api/interaction/mfa/recovery-code": _FACTOR,
    "POST /api/interaction/mfa/code": _SEND_FACTOR,
    "POST /api/interaction/mfa/code/verify": _FACTOR,
    "POST /api/interaction/mfa/skip": _PENDING,
    "POST /api/interaction/mfa/cancel": _PENDING,
    "POST /api/interaction/mfa/set-up/totp": _free("needs a pending sign-in or a session"),
    "POST /api/interaction/mfa/set-up/totp/verify": _SET_UP,
    "POST /api/interaction/mfa/set-up/backup-codes": _SESSION,
    "POST /api/admin/sign-in": _ADMIN_SIGN_IN,
    "GET /api/my-account/sessions": _SESSION,
    "DELETE /api/my-account/sessions": _SESSION,
    "DELETE /api/my-account/sessions/:session_pk": _SESSION,
    "GET /api/my-account/trusted-devices": _SESSION,
    "DELETE /api/my-account/trusted-devices": _SESSION,
    "DELETE /api/my-account/trusted-devices/:device_pk": _SESSION,
    "GET /api/my-account/grants": _SESSION,
    "DELETE /api/my-account/grants": _SESSION,
    "DELETE /api/my-account/grants/:grant_pk": _SESSION,
    "GET /api/my-account/mfa-verifications": _SESSION,
    "POST /api/my-account/mfa-verifications": _CONFIRMED,
    "PATCH /api/my-account/mfa-verifications/:factor_pk": _CONFIRMED,
    "DELETE /api/my-account/mfa-verifications/:factor_pk": _CONFIRMED,
    "GET /api/my-account/mfa-settings": _SESSION,
    "PATCH /api/my-account/mfa-settings": _CONFIRMED,
    "POST /api/my-account/confirm": Limited(
        (rules.SIGN_INS,), (*_LOCKS, rules.SECOND_FACTOR), note="needs a session"
    ),
    "GET /api/admin/me": _free("needs an administrator's token"),
    "GET /api/openapi.json": _STATIC,
    "GET /api/docs": _STATIC,
    "GET /api/session/context": _TOKEN,
    "GET /": _free("redirects"),
    "GET /brand.css": _READS,
    "GET /pictures/:digest": _READS,
    "GET /.well-known/change-password": _free("redirects"),
    "GET /.well-known/security.txt": _STATIC,
    "GET /robots.txt": _STATIC,
    "GET /favicon.ico": _free("redirects"),
    "GET /sign-in": _READS,
    "POST /sign-in": _PASSWORD,
    "GET /sign-in/code": _READS,
    "POST /sign-in/code": _SEND_AND_ENTER_CODE,
    "GET /sign-in/second-factor": _READS,
    "POST /sign-in/second-factor": _FACTOR_PAGE,
    "GET /sign-in/set-up": _READS,
    "POST /sign-in/set-up": _SET_UP,
    "GET /sign-in/backup-codes": _SESSION,
    "POST /sign-in/backup-codes": _SESSION,
    "GET /register": _READS,
    "POST /register": Limited(
        (rules.REGISTRATIONS, rules.CODE_SENDS, rules.SIGN_INS, rules.WRONG_CODES),
        _CODE_SENDS,
        (rules.TEXT_MESSAGES,),
        note="five attempts per code",
    ),
    "GET /register/terms/:pk": _free("needs an attempt that this browser started"),
    "POST /register/terms/:pk": _free("needs an attempt that this browser started"),
    "GET /forgot-password": _READS,
    "POST /forgot-password": _SEND_AND_ENTER_CODE,
    "GET /social/:connector_id": _SOCIAL,
    "POST /social/:connector_id": _SOCIAL,
    "GET /social/callback": _free("needs an attempt that this browser started"),
    "GET /social/callback/:pk": _free("needs an attempt that this browser started"),
    "POST /social/callback/:pk": _free("needs the state of an attempt to store a name; redirects"),
    "GET /select-account": _READS,
    "POST /select-account": _free("needs a session and a pending request"),
    "GET /consent": _READS,
    "POST /consent": _free("needs a session and a pending request"),
    "GET /continue": _READS,
    "POST /continue": _free("needs a session and a pending request"),
    "GET /no-access": _READS,
    "POST /no-access": _free("needs a session and a pending request"),
    "GET /account": _SESSION,
    "GET /account/profile": _SESSION,
    "POST /account/profile": _SESSION,
    "GET /account/username": _SESSION,
    "POST /account/username": _CONFIRM_PASSWORD,
    "GET /account/email": _SESSION,
    "POST /account/email": Limited(
        (rules.CODE_SENDS,), (*_LOCKS, *_CODE_SENDS_SIGNED_IN), note="needs a session"
    ),
    "GET /account/email/code": _SESSION,
    "POST /account/email/code": Limited((rules.SIGN_INS, rules.WRONG_CODES), note="needs a session"),
    "GET /account/phone": _SESSION,
    "POST /account/phone": Limited(
        (rules.CODE_SENDS,), (*_LOCKS, *_CODE_SENDS_SIGNED_IN), (rules.TEXT_MESSAGES,), note="needs a session"
    ),
    "GET /account/phone/code": _SESSION,
    "POST /account/phone/code": Limited((rules.SIGN_INS, rules.WRONG_CODES), note="needs a session"),
    "GET /account/password": _SESSION,
    "POST /account/password": _CONFIRM_PASSWORD,
    "GET /account/security": _SESSION,
    "POST /account/security": _CONFIRM_FACTORS,
    "GET /account/security/authenticator": _SESSION,
    "POST /account/security/authenticator": _CONFIRM_FACTORS,
    "GET /account/security/passkeys": _SESSION,
    "POST /account/security/passkeys": _CONFIRM_FACTORS,
    "GET /account/security/codes": _SESSION,
    "POST /account/security/codes": _CONFIRM_FACTORS,
    "GET /account/security/browsers": _SESSION,
    "POST /account/security/browsers": _SESSION,
    "GET /confirm": _SESSION,
    "POST /confirm": _FACTOR_PAGE,
    "GET /account/language": _SESSION,
    "POST /account/language": _SESSION,
    "GET /account/activity": _SESSION,
    "POST /account/activity": _SESSION,
    "GET /account/browsers": _SESSION,
    "POST /account/browsers": _SESSION,
    "GET /account/applications": _SESSION,
    "POST /account/applications": _SESSION,
    "GET /account/linked": _SESSION,
    "POST /account/linked": Limited((rules.SIGN_INS,), note="needs a session"),
    "GET /account/data": _SESSION,
    "POST /account/data": _CONFIRM_PASSWORD,
    "GET /account/delete": _SESSION,
    "POST /account/delete": _CONFIRM_PASSWORD,
    "GET /api/v1/m2m/organizations/:organization_pk/members": _THIRD_PARTY,
    "POST /api/v1/m2m/organizations/:organization_pk/members": Limited(
        caller=(rules.MEMBER_JOINS,), note="needs an application's token with the member role"
    ),
    "DELETE /api/v1/m2m/organizations/:organization_pk/members/:user_pk": _THIRD_PARTY,
    "GET /api/v1/m2m/organizations/:organization_pk/members/:user_pk/roles": _THIRD_PARTY,
    "PUT /api/v1/m2m/organizations/:organization_pk/members/:user_pk/roles": _THIRD_PARTY,
}

_HEADING: Final = """# Limits by route

This page lists the limits of every route that needs no management token.
[Limits and headers](limits.md) has the numbers, and the responses when a limit is reached.
`config/route_limits.py` generates this page; tests compare it with the served routes, and reach
each of these limits over HTTP.

In addition, the size of every request is limited, and every request that hashes a password waits
for a hashing slot or gets 503.

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

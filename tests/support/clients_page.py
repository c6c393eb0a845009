"""Writes docs/clients.md from the clients that ran: what worked, and with which settings."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from django.conf import settings

from tests.support.clients import ALL, Client

PAGE: Final = Path(settings.BASE_DIR) / "docs/clients.md"
PLACE: Final = "tests/interop/clients"
STEPS: Final = ("login", "userinfo", "refresh", "logout", "revocation", "client credentials")
LANGUAGES: Final = {".mjs": "js", ".js": "js", ".py": "python", ".conf": "apache", ".env": "bash"}

INTRODUCTION: Final = """\
# Clients

These OpenID Connect clients work with Gatehouse, with these settings. The page is generated: the
tests in `tests/interop` run the clients against a server, and write what worked and the settings
that they used. `make verify` fails if the page differs from what ran. To generate it:
`.venv/bin/pytest tests/interop --write-clients`.

Every client belonged to a tenant, with an issuer like `https://id.example.com/t/acme`. Clients that
sign users in were registered with their callback as a redirect URI, and with the page after the
sign-out as a post-logout redirect URI."""

LEGEND: Final = """\
An empty cell was not tried, mostly because the client leaves the step to the application. "By hand"
means that the application did it without the client. Refresh uses a refresh token, which needs the
scope `offline_access`. Logout starts at the application and ends the session at Gatehouse."""

WITH_SETTING: Final = """\
## Clients with a setting for ES256

Gatehouse signs with ES256 unless an administrator
[chooses RS256](applications/index.md#if-the-product-wants-rs256) for the application. Most clients
read the algorithm in the discovery document. These clients need a setting or RS256, because they
expect RS256 or HS256 by default and then refuse every sign-in:"""

WITHOUT_SETTING: Final = "Without the setting, they report after a successful sign-in:"

WITH_RS256: Final = """\
## Clients that need RS256

The applications of these clients had `id_token_signed_response_alg` `RS256`, so that the clients
need no line about algorithms. With ES256 they report:"""

NOTES: Final = {
    "passport-openidconnect": """\
It does not check the signature of ID tokens. `openid-client/passport` is a strategy for Passport
that checks it.""",
    "@auth/core": """\
Auth.js, the library of Next.js, SvelteKit and others. The redirect URI is `/auth/callback/` with
the id of the provider. To end the session at Gatehouse, the application redirects to it.""",
    "next-auth": """\
The predecessor of Auth.js, for Next.js. The tests call its handler from Express. Release 4 can also
be told ES256: `client: { id_token_signed_response_alg: "ES256" }`.""",
    "@logto/node": """\
It reads the discovery document below `/oidc`, where Gatehouse has it too. It always requests the
consent page, and signs out without an ID token, so that users have to confirm the sign-out.""",
    "Authlib": """\
A complete application that uses it is in [examples/relying_party](examples/relying_party).""",
    "mozilla-django-oidc": """\
It uses no refresh token: after a while it signs in again without a page (`prompt=none`). It
identifies users by their email address, which may belong to somebody else unless `email_verified`
is true: override `filter_users_by_claims` to use `sub`. It refuses users without an address unless
`verify_claims` is overridden.""",
    "oic": """\
Also called pyoidc. The package `pyoidc` on PyPI is another one.""",
    "social-auth-app-django": """\
Python Social Auth, for Django.""",
    "requests-oauthlib": """\
It implements OAuth 2 only: the application has to check the ID token.""",
    "oidc-client-ts": """\
Its requests are cross-origin; Gatehouse allows the origins of the redirect URIs. Renewal in a frame
ends in `login_required`, because frames of other sites get no cookies and the pages refuse to be
framed. Request `offline_access`, and it renews with the refresh token.""",
    "keycloak-js": """\
With `oidcProvider` it works with providers other than Keycloak. Do not request `offline_access`: it
reads every refresh token as a JWT, and Gatehouse's are not. New tokens come from `prompt=none`,
which leaves the page and returns.""",
    "directus": """\
Directus 11, with its own database in SQLite. It creates users at their first sign-in, with the
claims `given_name` and `family_name`, refuses addresses that are not verified, and finds its role
by the claim `roles`. Release 11.3.5 ignores its setting for another algorithm.""",
    "@openid/appauth": """\
Register `http://127.0.0.1/callback`, without a port. It does not read the ID token.""",
    "libapache2-mod-auth-openidc": """\
mod_auth_openidc, in the package of Debian. The application behind it gets the claims as headers.""",
}


def written(refusals: dict[str, str]) -> str:
    """Return the page. ``refusals`` has the errors of clients that expect another algorithm."""
    needing = {client.name for client in ALL if client.algorithm}
    algorithm = [
        WITH_SETTING,
        "\n".join(_settings()),
        WITHOUT_SETTING,
        "\n".join(_errors(refusals, refusals.keys() - needing)),
        WITH_RS256,
        "\n".join(_errors(refusals, needing)),
    ]
    parts = [INTRODUCTION, "\n".join(_table()), LEGEND, *algorithm]
    for name, clients in groupby(sorted(ALL, key=_by_name), key=lambda client: client.name):
        parts += _client(name, next(clients))
    return "\n\n".join(parts) + "\n"


def _by_name(client: Client) -> tuple[str, str]:
    return client.name.lower().lstrip("@"), client.title


def _table() -> Iterator[str]:
    yield "| " + " | ".join(["Client", "Version", "From", "Application", *STEPS]) + " |"
    yield "|" + "---|" * (4 + len(STEPS))
    for client in sorted(ALL, key=_by_name):
        cells = [client.cell(step) for step in STEPS]
        facts = [f"[{client.name}](#{_anchor(client.name)})", client.version, client.registry, client.type]
        yield "| " + " | ".join(facts + cells) + " |"


def _anchor(name: str) -> str:
    """Return the anchor of the heading, as GitHub makes it."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter in "-_")


def _settings() -> Iterator[str]:
    yield "| Client | Setting |"
    yield "|---|---|"
    for client in sorted({client.name: client for client in ALL}.values(), key=_by_name):
        for line in client.settings.splitlines():
            if "ES256" in line:
                yield f"| {client.name} | `{line.strip()}` |"


def _errors(refusals: dict[str, str], names: Iterable[str]) -> Iterator[str]:
    yield "| Client | Error |"
    yield "|---|---|"
    for name in sorted(names):
        yield f"| {name} | `{refusals[name]}` |"


def _client(name: str, client: Client) -> list[str]:
    language = LANGUAGES[Path(client.program).suffix]
    source = f"From [{PLACE}/{client.program}](../{PLACE}/{client.program}):"
    note = [NOTES[name]] if name in NOTES else []
    return [f"## {name}", *note, source, f"```{language}\n{client.settings}\n```"]

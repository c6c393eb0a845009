"""docs/clients.md, written from what ran: the clients, what worked, and the settings they had."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

from django.conf import settings

from tests.support.clients import ALL, Client

PAGE: Final = Path(settings.BASE_DIR) / "docs/clients.md"
PLACE: Final = "tests/interop/clients"
STEPS: Final = ("login", "userinfo", "refresh", "logout", "revocation", "client credentials")
LANGUAGES: Final = {".mjs": "js", ".js": "js", ".py": "python", ".conf": "apache"}

INTRODUCTION: Final = """\
# Clients

Which OpenID Connect clients work with Gatehouse, and with which settings. Nobody typed this page: the
tests of `tests/interop` run these clients against a server, and write down what worked and the very
settings that did. `make verify` fails when the page says something else than what ran. To write it again:
`.venv/bin/pytest tests/interop --write-clients`.

Every client was a client of a tenant, at an issuer like `https://id.example.com/t/acme`. Those that
people visit were registered with their callback as a redirect URI, and with the page they return to after
signing out as a post-logout redirect URI."""

LEGEND: Final = """\
An empty cell was not tried, mostly because the client leaves that to the application; "by hand" says that
the application did it without the client. Refresh is a refresh token, which is issued for the scope
`offline_access`. Logout begins at the application and ends the session at Gatehouse."""

TOLD: Final = """\
## Clients that have to be told ES256

Gatehouse signs with ES256 and with nothing else. Most clients read that in the discovery document; some
expect RS256 or HS256 until they are told, and refuse everybody who has just signed in. These lines tell
them:"""

UNTOLD: Final = "Without its line, this is what they say after a sign-in that worked:"

NOTES: Final = {
    "passport-openidconnect": """\
It does not check the signature of ID tokens. openid-client brings a strategy for Passport that does,
`openid-client/passport`.""",
    "@auth/core": """\
Auth.js, which Next.js, SvelteKit and others bring. The redirect URI is `/auth/callback/` and the id of
the provider. Ending the session at Gatehouse is a redirect that the application makes.""",
    "@logto/node": """\
It looks for the discovery document below `/oidc`, where it is too. It always asks for consent, and signs
out without an ID token, so that people are asked whether they want to.""",
    "Authlib": """\
A whole application built on it is in [examples/relying_party](examples/relying_party).""",
    "mozilla-django-oidc": """\
It uses no refresh token: after a while it signs in again without a page (`prompt=none`). It knows people by
their email address, which need not be theirs unless `email_verified` says so: override
`filter_users_by_claims` to go by `sub`. Somebody without an address is not let in unless `verify_claims` is
overridden.""",
    "oic": """\
Also called pyoidc; the package of that name on PyPI is something else.""",
    "social-auth-app-django": """\
Python Social Auth, for Django.""",
    "requests-oauthlib": """\
It knows OAuth 2 and no ID token, which the application has to check.""",
    "oidc-client-ts": """\
What the application asks crosses origins, and the origin of a redirect URI is enough for that. Renewal in
a frame ends in `login_required`, because frames of other sites get no cookies, and our pages refuse to be
framed: ask for `offline_access`, and it renews with the refresh token.""",
    "@openid/appauth": """\
Register `http://127.0.0.1/callback`, without a port. It does not read the ID token.""",
    "libapache2-mod-auth-openidc": """\
mod_auth_openidc, as Debian packages it. The application behind gets the claims as headers.""",
}


def written(refusals: dict[str, str]) -> str:
    """Return the page. ``refusals`` is what clients said that were not told ES256."""
    said = (f"- {name}: `{refusal}`" for name, refusal in sorted(refusals.items()))
    told = [TOLD, "\n".join(_lines()), UNTOLD, "\n".join(said)]
    parts = [INTRODUCTION, "\n".join(_table()), LEGEND, *told]
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
    """Return how GitHub and its kin name the heading."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter in "-_")


def _lines() -> Iterator[str]:
    for client in sorted({client.name: client for client in ALL}.values(), key=_by_name):
        for line in client.settings.splitlines():
            if "ES256" in line:
                yield f"- {client.name}: `{line.strip()}`"


def _client(name: str, client: Client) -> list[str]:
    language = LANGUAGES[Path(client.program).suffix]
    source = f"From [{PLACE}/{client.program}](../{PLACE}/{client.program}):"
    note = [NOTES[name]] if name in NOTES else []
    return [f"## {name}", *note, source, f"```{language}\n{client.settings}\n```"]

"""The client libraries and programs with which the interoperability tests run."""

import json
import re
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from tests.support import packages

PROGRAMS: Final = packages.LOCKS / "clients"


@dataclass(frozen=True)
class Client:
    """A client, as an application of one type.

    ``lacks`` are steps that it leaves to the application and that are not tried; ``by_hand`` are those that
    the program does without it. A client that does not ``rotate`` has no use for refresh tokens.
    ``algorithm`` is that of the application's ID tokens, if it is not the tenant's default.
    """

    name: str
    program: str
    type: str = "Traditional"
    registry: str = "npm"
    lacks: tuple[str, ...] = ()
    by_hand: tuple[str, ...] = ()
    callback: str = "/callback"
    rotates: bool = True
    asked_to_confirm: bool = False
    algorithm: str = ""
    lock: str = "package-lock.json"
    done: list[str] = field(default_factory=list, compare=False)

    @property
    def title(self) -> str:
        return f"{self.name} ({self.type})"

    @property
    def version(self) -> str:
        """The version that the lock has, or the machine."""
        if self.registry == "npm":
            lock = json.loads((packages.LOCKS / self.lock).read_text())
            return str(lock["packages"][f"node_modules/{self.name}"]["version"])
        if self.registry == "Debian":
            return packages.debian_version(self.name)
        if self.name == "Authlib":
            return version("authlib")
        lock = (packages.LOCKS / "requirements.lock").read_text()
        (found,) = re.findall(rf"^{self.name}==(\S+)", lock, re.MULTILINE)
        return str(found)

    def cell(self, step: str) -> str:
        """Say what came of a step."""
        if step not in self.done:
            return ""
        if step == "refresh" and not self.rotates:
            return "`prompt=none`"
        return "by hand" if step in self.by_hand else "yes"

    @property
    def settings(self) -> str:
        """The marked part of its program: what it was set to when it ran."""
        text = (PROGRAMS / self.program).read_text()
        (part,) = re.findall(r"^\S+ settings\n(.*?)^\S+ end of settings$", text, re.MULTILINE | re.DOTALL)
        return str(part).strip("\n")


BROWSED: Final = (
    Client("openid-client", "openid_client.mjs"),
    Client("openid-client", "openid_client.mjs", "SPA"),
    Client("oauth4webapi", "oauth4webapi.mjs", by_hand=("logout",)),
    Client("oauth4webapi", "oauth4webapi.mjs", "SPA", by_hand=("logout",)),
    Client("express-openid-connect", "express_openid_connect.mjs", lacks=("revocation",)),
    Client(
        "passport-openidconnect",
        "passport_openidconnect.mjs",
        lacks=("refresh", "revocation"),
        by_hand=("logout",),
    ),
    Client(
        "@auth/core",
        "authjs.mjs",
        lacks=("userinfo", "refresh", "revocation"),
        by_hand=("logout",),
        callback="/auth/callback/gatehouse",
    ),
    Client(
        "next-auth",
        "next_auth.mjs",
        lacks=("userinfo", "refresh", "revocation"),
        by_hand=("logout",),
        callback="/api/auth/callback/gatehouse",
        algorithm="RS256",
    ),
    Client("@logto/node", "logto_node.mjs", lacks=("revocation",), asked_to_confirm=True),
    Client("Authlib", "authlib_flask.py", registry="PyPI", lacks=("revocation",)),
    Client(
        "mozilla-django-oidc",
        "mozilla_django.py",
        registry="PyPI",
        lacks=("revocation",),
        by_hand=("logout",),
        callback="/oidc/callback/",
        rotates=False,
    ),
    Client("oic", "pyoidc.py", registry="PyPI", lacks=("revocation",), by_hand=("logout",)),
    Client(
        "requests-oauthlib",
        "oauthlib_session.py",
        registry="PyPI",
        lacks=("revocation",),
        by_hand=("logout",),
    ),
    Client(
        "social-auth-app-django",
        "python_social_auth.py",
        registry="PyPI",
        lacks=("revocation",),
        by_hand=("logout",),
        callback="/social/complete/oidc/",
    ),
)
NATIVE: Final = Client("@openid/appauth", "appauth.mjs", "Native", lacks=("userinfo", "logout"))
MACHINES: Final = (
    Client("openid-client", "openid_client.mjs", "MachineToMachine"),
    Client("oauth4webapi", "oauth4webapi.mjs", "MachineToMachine"),
)
OIDC_CLIENT_TS: Final = Client("oidc-client-ts", "oidc_client_ts.js", "SPA")
KEYCLOAK_JS: Final = Client("keycloak-js", "keycloak_js.js", "SPA", lacks=("revocation",), rotates=False)
DIRECTUS: Final = Client(
    "directus",
    "directus.env",
    lacks=("refresh", "revocation", "logout"),
    callback="/auth/login/gatehouse/callback",
    algorithm="RS256",
    lock="directus/package-lock.json",
)
APACHE: Final = Client("libapache2-mod-auth-openidc", "mod_auth_openidc.conf", registry="Debian")
ALL: Final = (*BROWSED, *MACHINES, OIDC_CLIENT_TS, KEYCLOAK_JS, NATIVE, DIRECTUS, APACHE)


def named(name: str) -> Client:
    return next(client for client in ALL if client.name == name)

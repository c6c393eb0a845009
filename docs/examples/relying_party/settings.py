"""What the application must be told, read from the environment once at start."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

VARIABLES = {
    "DEMO_ISSUER": "the provider's address, for example http://localhost:8000",
    "DEMO_CLIENT_ID": "the client_id the provider gave this application",
    "DEMO_CLIENT_SECRET": "the client_secret that belongs to it",
    "DEMO_BASE_URL": "this application's own address, for example http://localhost:8001",
}
ADDRESSES = ("DEMO_ISSUER", "DEMO_BASE_URL")


@dataclass(frozen=True)
class Settings:
    """The four facts that tie an application to its provider."""

    issuer: str
    client_id: str
    client_secret: str
    base_url: str

    @property
    def metadata_url(self) -> str:
        """Where the provider describes itself (OpenID Connect Discovery)."""
        return f"{self.issuer}/.well-known/openid-configuration"

    @property
    def redirect_uri(self) -> str:
        """Where the provider sends the browser with its answer; registered there."""
        return f"{self.base_url}/callback"

    @property
    def post_logout_redirect_uri(self) -> str:
        """Where the provider sends the browser after signing out; registered there."""
        return f"{self.base_url}/"

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach this application over https."""
        return self.base_url.startswith("https://")


def load(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings, or stop the program and say what is wrong with them."""
    problems = [
        f"  {name} is missing: {meaning}" for name, meaning in VARIABLES.items() if not environ.get(name)
    ]
    problems += [
        f"  {name} is not an http(s) address without a trailing slash: {environ[name]}"
        for name in ADDRESSES
        if environ.get(name) and not _is_address(environ[name])
    ]
    if problems:
        message = "\n".join(["The demo application cannot start.", *problems])
        print(message, file=sys.stderr, flush=True)  # noqa: T201  servers swallow SystemExit's text
        raise SystemExit(3)  # to gunicorn: do not try again
    return Settings(
        issuer=environ["DEMO_ISSUER"],
        client_id=environ["DEMO_CLIENT_ID"],
        client_secret=environ["DEMO_CLIENT_SECRET"],
        base_url=environ["DEMO_BASE_URL"],
    )


def origin(address: str) -> str:
    """Return scheme, host and port of an address, as browsers send them in `Origin`."""
    parts = urlsplit(address)
    default_port = {"http": ":80", "https": ":443"}[parts.scheme]
    return f"{parts.scheme}://{parts.netloc.removesuffix(default_port)}"


def _is_address(value: str) -> bool:
    parts = urlsplit(value)
    is_plain = not (parts.query or parts.fragment or value.endswith("/"))
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and is_plain

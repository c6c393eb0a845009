"""The demo that ``manage.py run`` sets up: an application, and a user who can sign in to it."""

import json
import os
import secrets
from dataclasses import asdict, dataclass

from django.conf import settings

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application


@dataclass(frozen=True, slots=True)
class Demo:
    """The credentials of the demo application and its user."""

    client_id: str
    client_secret: str
    base_url: str
    username: str
    password: str


class OnlyInDevelopment(ServiceError):
    """The demo is refused in production, because it prints the password of an account."""

    reason = "only_in_development"
    message = "the demo is only for development (DEBUG=true)"


def prepare(base_url: str) -> Demo:
    """Return the demo of an earlier start, or set up a new one.

    Raises:
        OnlyInDevelopment: this is production.

    """
    if not settings.DEVELOPMENT:
        raise OnlyInDevelopment
    path = settings.VAR / "demo.json"
    kept = Demo(**json.loads(path.read_text())) if path.exists() else None
    with tenancy.using(tenancy.DEFAULT):
        if kept and kept.base_url == base_url and _exists(kept):
            return kept
        demo = _set_up(base_url)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(demo), file)
    return demo


def _exists(demo: Demo) -> bool:
    return (
        Application.objects.filter(client_id=demo.client_id).exists()
        and User.objects.find_by_identifier(demo.username).exists()
    )


def _set_up(base_url: str) -> Demo:
    application, secret = applications.register(
        name="Demo application",
        type=Application.Type.TRADITIONAL,
        description="Shows the tokens and claims that an application receives.",
        redirect_uris=[f"{base_url}/callback"],
        post_logout_redirect_uris=[f"{base_url}/"],
    )
    # The demo never changes the password of an existing user.
    known = User.objects.filter(username_key="alice") | User.objects.find_by_identifier("alice@example.com")
    username = f"alice-{secrets.token_hex(2)}" if known.exists() else "alice"
    password = secrets.token_urlsafe(9)
    users.create(username=username, password=password, name="Alice Example", email=f"{username}@example.com")
    return Demo(application.client_id, secret, base_url, username, password)

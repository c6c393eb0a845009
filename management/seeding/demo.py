"""The demo of a first start: one application and one person who can sign in to it."""

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
    """How the demo application and its person sign in."""

    client_id: str
    client_secret: str
    base_url: str
    username: str
    password: str


class OnlyInDevelopment(ServiceError):
    """The demo makes an account with a password that is printed."""

    reason = "only_in_development"
    message = "the demo belongs to a development start (DEBUG=true)"


def prepare(base_url: str) -> Demo:
    """Return the demo as an earlier start left it, or set it up. Kept in a file of its owner's.

    Raises:
        OnlyInDevelopment: this is a production start.

    """
    if not settings.DEVELOPMENT:
        raise OnlyInDevelopment
    path = settings.VAR / "demo.json"
    kept = Demo(**json.loads(path.read_text())) if path.exists() else None
    with tenancy.using(tenancy.DEFAULT):
        if kept and kept.base_url == base_url and _is_whole(kept):
            return kept
        demo = _set_up(base_url)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(demo), file)
    return demo


def _is_whole(demo: Demo) -> bool:
    return (
        Application.objects.filter(client_id=demo.client_id).exists()
        and User.objects.find_by_identifier(demo.username).exists()
    )


def _set_up(base_url: str) -> Demo:
    application, secret = applications.register(
        name="Demo application",
        type=Application.Type.TRADITIONAL,
        description="Shows what an application learns when somebody signs in.",
        redirect_uris=[f"{base_url}/callback"],
        post_logout_redirect_uris=[f"{base_url}/"],
    )
    # Never somebody who was here before: their password is theirs.
    known = User.objects.filter(username_key="alice") | User.objects.find_by_identifier("alice@example.com")
    username = f"alice-{secrets.token_hex(2)}" if known.exists() else "alice"
    password = secrets.token_urlsafe(9)
    users.create(username=username, password=password, name="Alice Example", email=f"{username}@example.com")
    return Demo(application.client_id, secret, base_url, username, password)

"""The demo that ``manage.py run`` sets up: an application, and a user who can sign in to it."""

import json
import os
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from django.conf import settings
from django.utils.module_loading import import_string

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.tenants.models import Tenant
from identity.users import services as users
from identity.users.models import User
from management.seeding.demo_data import seeding
from oidc.applications import services as applications
from oidc.applications.models import Application

TENANT: Final = "demo"
_AMOUNTS: Final = seeding.Amounts(seed=1, users=100, organizations=10, logs=500)


@dataclass(frozen=True, slots=True)
class Demo:
    """The credentials of the demo application and its user."""

    client_id: str
    client_secret: str
    base_url: str
    username: str
    password: str
    issuer: str = ""  # of another tenant than the default
    authenticator_key: str = ""  # of the made-up users who have two-step sign-in


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
    with tenancy.using(tenancy.DEFAULT):
        kept = _read(path, base_url)
        if kept and User.objects.find_by_identifier(kept.username).exists():
            return kept
        demo = _set_up(base_url)
    _write(path, demo)
    return demo


def prepare_tenant(base_url: str) -> Demo:
    """Fill the demo tenant, and return the demo application there.

    Raises:
        OnlyInDevelopment: this is production.

    """
    if not settings.DEVELOPMENT:
        raise OnlyInDevelopment
    made = seeding.prepare(_AMOUNTS, slug=TENANT)
    if made.password is None:
        made = seeding.prepare(_AMOUNTS, slug=TENANT, choices=seeding.Choices(reset_password=True))
    path = settings.VAR / "demo-tenant.json"
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = Tenant.objects.get(slug=TENANT).to_active()
    with tenancy.using(tenant):
        kept = _read(path, base_url)
        client_id, secret = (kept.client_id, kept.client_secret) if kept else _register(base_url)
    demo = Demo(
        client_id, secret, base_url, made.example, str(made.password), made.issuer, made.authenticator_key
    )
    _write(path, replace(demo, password="", authenticator_key=""))
    return demo


def _read(path: Path, base_url: str) -> Demo | None:
    """Return the demo of an earlier start, if its application still exists and has this address."""
    kept = Demo(**json.loads(path.read_text())) if path.exists() else None
    if kept is None or kept.base_url != base_url:
        return None
    return kept if Application.objects.filter(client_id=kept.client_id).exists() else None


def _write(path: Path, demo: Demo) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(demo), file)


def _register(base_url: str) -> tuple[str, str]:
    """Register the demo application, and return its client id and secret."""
    application, secret = applications.register(
        name="Demo application",
        type=Application.Type.TRADITIONAL,
        description="Shows the tokens and claims that an application receives.",
        redirect_uris=[f"{base_url}/callback"],
        post_logout_redirect_uris=[f"{base_url}/"],
    )
    return application.client_id, secret


def _set_up(base_url: str) -> Demo:
    import_string(settings.DEMO_SIGN_IN)()
    client_id, secret = _register(base_url)
    # The demo never changes the password of an existing user.
    known = User.objects.filter(username_key="alice") | User.objects.find_by_identifier("alice@example.com")
    username = f"alice-{secrets.token_hex(2)}" if known.exists() else "alice"
    password = secrets.token_urlsafe(9)
    users.create(username=username, password=password, name="Alice Example", email=f"{username}@example.com")
    return Demo(client_id, secret, base_url, username, password)

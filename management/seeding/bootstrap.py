"""The creation of the default tenant and of the first administrator."""

import os
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction

from identity.core import tenancy
from identity.core.errors import Invalid
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users import credentials, identifiers, passwords
from management.administrators import services as administrators
from management.administrators.models import Administrator

DEFAULT_NAME = "Gatehouse"


@dataclass(frozen=True, slots=True)
class Result:
    """Whether the tenant and the administrator were created."""

    created_tenant: bool
    created_administrator: bool


def prepare() -> Result:
    """Create the default tenant and the first administrator, unless they exist."""
    with transaction.atomic():
        is_new = not Tenant.objects.filter(pk=tenancy.DEFAULT_ID).exists()
        if is_new:
            tenants.provision(slug=tenancy.DEFAULT_ID, name=DEFAULT_NAME)
    needs_administrator = not Administrator.objects.exists()
    if needs_administrator:
        _create_administrator()
    return Result(created_tenant=is_new, created_administrator=needs_administrator)


def _create_administrator() -> None:
    try:
        name = identifiers.clean_username(settings.ADMIN_USERNAME)
        first = Administrator(username=name, username_key=identifiers.fold(name), is_superuser=True)
        # Installations may start with any ADMIN_PASSWORD that releases before 0.6.0 took. The doctor warns.
        password = credentials.clean_password(settings.ADMIN_PASSWORD or _generate_password())
        first.password = passwords.hash_password(password)
        administrators.add(first, [])
    except Invalid as error:
        raise ImproperlyConfigured(f"ADMIN_{error.field.upper()}: {error.rule}") from None


def _generate_password() -> str:
    """Return a new password, after writing it to a file that only its owner can read."""
    password = secrets.token_urlsafe(12)
    path = settings.ADMIN_PASSWORD_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
    return password

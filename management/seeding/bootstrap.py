"""The default tenant and the first administrator, which every start needs."""

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
from management.administrators import services as administrators
from management.administrators.models import Administrator

DEFAULT_NAME = "Gatehouse"


@dataclass(frozen=True, slots=True)
class Prepared:
    """Whether the tenant and the administrator were created now."""

    tenant: bool
    administrator: bool


def prepare() -> Prepared:
    """Create the default tenant and the first administrator, unless they exist."""
    with transaction.atomic():
        tenant = not Tenant.objects.filter(pk=tenancy.DEFAULT_ID).exists()
        if tenant:
            tenants.provision(slug=tenancy.DEFAULT_ID, name=DEFAULT_NAME)
    administrator = not Administrator.objects.exists()
    if administrator:
        _create_administrator()
    return Prepared(tenant=tenant, administrator=administrator)


def _create_administrator() -> None:
    try:
        administrators.create(
            username=settings.ADMIN_USERNAME,
            password=settings.ADMIN_PASSWORD or _generate_password(),
            is_superuser=True,
        )
    except Invalid as error:
        raise ImproperlyConfigured(f"ADMIN_{error.field.upper()}: {error.rule}") from None


def _generate_password() -> str:
    """Generate a password and write it to a file that only its owner can read."""
    password = secrets.token_urlsafe(12)
    path = settings.ADMIN_PASSWORD_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
    return password

"""Who can manage this installation, and what the first start left behind."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.examination import examined
from management.administrators.models import Administrator


@examined
def administrators() -> Iterator[CheckMessage]:
    """Ask whether somebody manages every tenant, and whether the first password is still lying around."""
    if not Administrator.objects.filter(is_superuser=True).exists():
        yield Error(
            "nobody manages every tenant: there is no administrator with is_superuser",
            hint="run manage.py bootstrap on an empty installation, else manage.py createsuperuser",
            id="administrators.E001",
        )
    if settings.ADMIN_PASSWORD_FILE.exists() and not settings.DEVELOPMENT:
        yield Warning(
            f"the first administrator's password still lies in {settings.ADMIN_PASSWORD_FILE}",
            hint="sign in, choose another password, and delete the file",
            id="administrators.W002",
        )

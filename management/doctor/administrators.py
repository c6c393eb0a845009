"""Who can manage this installation, and what the first start left behind."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.examination import examined, named
from management.administrators.models import Administrator, Role


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


@examined
def usernames() -> Iterator[CheckMessage]:
    """Ask whether two administrators have usernames that look alike."""
    without = Administrator.objects.filter(username_key=None).order_by("username")
    if names := list(without.values_list("username", flat=True)):
        yield Warning(
            f"administrators whose username is spelled like another's: {named(names)}",
            hint="give these people administrators of another username, and delete these",
            id="administrators.W005",
        )


@examined
def second_steps() -> Iterator[CheckMessage]:
    """Ask whether a password alone opens every tenant, or opens the setting up of the second step."""
    superusers = Administrator.objects.filter(is_superuser=True)
    if settings.ADMIN_TWO_STEP == "optional":
        without = superusers.filter(second_step_since=None).order_by("username")
        if not settings.DEVELOPMENT and (names := list(without.values_list("username", flat=True))):
            yield Warning(
                f"superusers whose password alone opens every tenant: {named(names)}",
                hint="have them set up Two-step sign-in at /admin/, then set ADMIN_TWO_STEP=required",
                id="administrators.W003",
            )
        return
    who_help = superusers.filter(role=Role.ADMINISTRATOR)
    if who_help.exists() and not who_help.exclude(second_step_since=None).exists():
        yield Error(
            "a second step is required, and no superuser who manages everything has one: whoever has a "
            "password of theirs sets it up, and nobody can get a token meanwhile",
            hint="sign in at /admin/ as one of them and set it up",
            id="administrators.E004",
        )

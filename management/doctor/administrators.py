"""Checks of the administrators and of the first administrator's password file.

The dashboard shows some findings, in the language of the administrator.
"""

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's name
from django.utils.translation import gettext

from identity.core.doctor_checks import doctor_check, join_names, shown_on_dashboard
from identity.core.errors import Invalid
from identity.users import passwords
from management.administrators import mail, password_rules
from management.administrators.models import Administrator, Role

_PAGE: Final = "admin:administrators_administrator_changelist"


@shown_on_dashboard(_PAGE)
@doctor_check
def administrators() -> Iterator[CheckMessage]:
    """Check that an administrator manages every tenant, and that the first password's file is deleted."""
    if not Administrator.objects.filter(is_superuser=True).exists():
        yield Error(
            gettext("no administrator is a superuser, so nobody can manage every tenant"),
            hint=gettext(
                "run manage.py bootstrap if there are no administrators, otherwise manage.py createsuperuser"
            ),
            id="administrators.E001",
        )
    if settings.ADMIN_PASSWORD_FILE.exists() and not settings.DEVELOPMENT:
        yield Warning(
            gettext("the first administrator's password is still in %(path)s")
            % {"path": settings.ADMIN_PASSWORD_FILE},
            hint=gettext("sign in, set a new password, and delete the file"),
            id="administrators.W002",
        )


@shown_on_dashboard(_PAGE)
@doctor_check
def usernames() -> Iterator[CheckMessage]:
    """Check that no two administrators have usernames that look alike."""
    without = Administrator.objects.filter(username_key=None).order_by("username")
    if names := list(without.values_list("username", flat=True)):
        yield Warning(
            gettext("administrators whose username looks like another's: %(names)s")
            % {"names": join_names(names)},
            hint=gettext(
                "create new administrators with distinct usernames for these people, and delete the old ones"
            ),
            id="administrators.W005",
        )


@doctor_check
def first_password() -> Iterator[CheckMessage]:
    """Check that the first administrator has replaced an ADMIN_PASSWORD that is easy to guess."""
    if settings.DEVELOPMENT or not settings.ADMIN_PASSWORD:
        return
    try:
        password_rules.clean(settings.ADMIN_PASSWORD, settings.ADMIN_USERNAME)
    except Invalid:
        first = Administrator.objects.filter(username=settings.ADMIN_USERNAME).first()
        if first is not None and passwords.verify(settings.ADMIN_PASSWORD, first.password)[0]:
            yield Warning(
                f"the password of {first.username} is easy to guess: it is still ADMIN_PASSWORD",
                hint="change it at /admin/password/, and delete ADMIN_PASSWORD",
                id="administrators.W008",
            )


@doctor_check
def mail_server() -> Iterator[CheckMessage]:
    """Check that the installation can send mail to administrators."""
    if not mail.is_configured() and not settings.DEVELOPMENT:
        yield Info(
            "no mail server is configured for administrators: invitations are shown to the inviter, and "
            "forgotten passwords cannot be recovered",
            hint="set ADMIN_MAIL_URL and ADMIN_MAIL_FROM",
            id="administrators.I006",
        )


@shown_on_dashboard(_PAGE)
@doctor_check
def second_steps() -> Iterator[CheckMessage]:
    """Check that superusers have a second step."""
    superusers = Administrator.objects.filter(is_superuser=True)
    if settings.ADMIN_TWO_STEP == "optional":
        without = superusers.filter(second_step_since=None).order_by("username")
        if not settings.DEVELOPMENT and (names := list(without.values_list("username", flat=True))):
            yield Warning(
                gettext("superusers who sign in with a password alone: %(names)s")
                % {"names": join_names(names)},
                hint=gettext(
                    "ask them to set up Two-step sign-in at /admin/, then set ADMIN_TWO_STEP=required"
                ),
                id="administrators.W003",
            )
        elif not settings.DEVELOPMENT and superusers.exists():
            yield Info(
                gettext("administrators may sign in with a password alone"),
                hint=gettext("set ADMIN_TWO_STEP=required: every superuser has a second step already"),
                id="administrators.I007",
            )
        return
    unrestricted = superusers.filter(role=Role.ADMINISTRATOR)
    if unrestricted.exists() and not unrestricted.exclude(second_step_since=None).exists():
        yield Error(
            gettext(
                "a second step is required, but no superuser with the role administrator has one: a stolen "
                "password is enough to set it up, and until then no superuser can get a token"
            ),
            hint=gettext("sign in at /admin/ as one of them and set up a second step"),
            id="administrators.E004",
        )

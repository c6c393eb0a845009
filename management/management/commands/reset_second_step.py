"""``manage.py reset_second_step``: remove an administrator's second step."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from management.administrators import second_step
from management.administrators.models import Administrator


class Command(BaseCommand):
    """Removes the second step of an administrator, in case no other administrator can do it."""

    help = (
        "Remove the second step of an administrator who lost the authenticator and the recovery codes. The "
        "administrator can then sign in with the password alone. All sessions and tokens of the "
        "administrator end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="the administrator's username")

    def handle(self, *_: Any, username: str, **__: Any) -> None:
        """Remove the second step.

        Raises:
            CommandError: there is no such administrator, or the administrator has no second step.

        """
        administrator = Administrator.objects.filter(username=username).first()
        if administrator is None:
            raise CommandError(f"there is no administrator {username}")
        if administrator.second_step_since is None:
            raise CommandError(f"{username} has no second step")
        second_step.reset(administrator)
        self.stdout.write(f"Removed the second step of {username}, who now signs in with the password alone.")

"""``manage.py reset_second_step``: let in an administrator who lost authenticator and recovery codes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from management.administrators import second_step
from management.administrators.models import Administrator


class Command(BaseCommand):
    """Removes the second step of an administrator: for the last one, whom nobody else can help."""

    help = (
        "Remove the second step of an administrator who lost authenticator and recovery codes. The password "
        "alone signs in then; sessions and tokens of the administrator end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take whose."""
        parser.add_argument("username")

    def handle(self, *_: Any, username: str, **__: Any) -> None:
        """Do it, and say so; 1 is the exit code when there is nothing to remove."""
        administrator = Administrator.objects.filter(username=username).first()
        if administrator is None:
            raise CommandError(f"there is no administrator {username}")
        if administrator.second_step_since is None:
            raise CommandError(f"{username} has no second step")
        second_step.remove(administrator)
        self.stdout.write(f"The second step of {username} is removed: the password alone signs in.")

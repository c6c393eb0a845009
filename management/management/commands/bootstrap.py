"""``manage.py bootstrap``: create the default tenant and the first administrator."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from management.seeding import bootstrap


class Command(BaseCommand):
    """Creates the default tenant and the first administrator, unless they exist."""

    help = "Create the default tenant and the first administrator, unless they exist."

    def handle(self, *_: Any, **__: Any) -> None:
        """Create what is missing and print what was created."""
        made = bootstrap.prepare()
        self.stdout.write("Created the default tenant." if made.tenant else "The default tenant exists.")
        if not made.administrator:
            self.stdout.write("An administrator exists.")
        elif settings.ADMIN_PASSWORD:
            self.stdout.write(
                f"Created the administrator {settings.ADMIN_USERNAME}, with the password of ADMIN_PASSWORD."
            )
        else:
            self.stdout.write(
                f"Created the administrator {settings.ADMIN_USERNAME}. The password is in "
                f"{settings.ADMIN_PASSWORD_FILE}."
            )

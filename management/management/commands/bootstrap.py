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
        result = bootstrap.prepare()
        self.stdout.write(
            "Created the default tenant." if result.created_tenant else "The default tenant already exists."
        )
        if not result.created_administrator:
            self.stdout.write("An administrator already exists.")
        elif settings.ADMIN_PASSWORD:
            self.stdout.write(
                f"Created the administrator {settings.ADMIN_USERNAME}, with the password of ADMIN_PASSWORD."
            )
        else:
            self.stdout.write(
                f"Created the administrator {settings.ADMIN_USERNAME}. The password is in "
                f"{settings.ADMIN_PASSWORD_FILE}."
            )

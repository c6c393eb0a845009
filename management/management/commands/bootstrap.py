"""``manage.py bootstrap``: make what a start needs to find."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from management.seeding import bootstrap


class Command(BaseCommand):
    """Makes the default tenant and the first administrator, unless they exist."""

    help = "Make the default tenant and the first administrator, unless they exist."

    def handle(self, *_: Any, **__: Any) -> None:
        """Do it, and say what was done."""
        made = bootstrap.prepare()
        self.stdout.write("The default tenant was made." if made.tenant else "The default tenant exists.")
        if not made.administrator:
            self.stdout.write("There is an administrator already.")
        elif settings.ADMIN_PASSWORD:
            self.stdout.write(f"Administrator {settings.ADMIN_USERNAME} was made with ADMIN_PASSWORD.")
        else:
            self.stdout.write(
                f"Administrator {settings.ADMIN_USERNAME} was made; the password is in "
                f"{settings.ADMIN_PASSWORD_FILE}."
            )

"""``manage.py changepassword``: replace the password of an administrator."""

import getpass
from typing import Any, Final

from django.contrib.auth.management.commands import changepassword
from django.core.management.base import CommandError

from identity.core.errors import Invalid
from management.administrators import replaced_passwords
from management.administrators.models import Administrator

_MOST_ATTEMPTS: Final = 3


class Command(changepassword.Command):
    """Django's command, which here does all that another administrator's new password does."""

    help = (
        "Replace the password of an administrator. All sessions and tokens of the administrator end. The "
        "linked account of the provider, the passkeys and the invitations are removed, and the email has to "
        "be confirmed again."
    )

    def handle(self, *_: Any, **options: Any) -> str:
        """Ask for the new password twice, and set it.

        Raises:
            CommandError: there is no such administrator, or no attempt gave a password.

        """
        username = options["username"] or getpass.getuser()
        administrator = Administrator.objects.filter(username=username).first()
        if administrator is None:
            raise CommandError(f"there is no administrator {username}")
        self.stdout.write(f"New password of {username}")
        for _attempt in range(_MOST_ATTEMPTS):
            password = getpass.getpass(prompt="Password: ")
            if password != getpass.getpass(prompt="Password (again): "):
                self.stderr.write("The passwords differ. Try again.")
                continue
            try:
                replaced_passwords.set_by_command(administrator, password)
            except Invalid as refusal:
                self.stderr.write(str(refusal))
            else:
                return f"Set the password of {username}, whose sessions and tokens have ended."
        raise CommandError(f"the password of {username} stays as it is")

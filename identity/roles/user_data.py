"""The effect of a change of owner on roles."""

from typing import Final

from identity.users.user_data import UserData

USER_DATA: Final = [
    UserData(model="roles.UserRole", reason="an administrator gave them to the account"),
]

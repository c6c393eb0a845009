"""What happens to roles when an account gets a new owner."""

from typing import Final

from identity.users.user_data import UserData

USER_DATA: Final = [
    UserData(model="roles.UserRole", reason="an administrator gave them to the account"),
]

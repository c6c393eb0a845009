"""What happens to pending sign-ins when an account gets a new owner."""

from typing import Final

from identity.users.user_data import UserData

USER_DATA: Final = [
    UserData(
        model="pending_sign_ins.PendingSignIn",
        reason="a new owner increments the epoch, and it belongs to the earlier one",
    ),
]

"""What a change of owner does to memberships."""

from typing import Final

from identity.users.user_data import UserData

USER_DATA: Final = [
    UserData(
        model="organizations.Membership",
        reason="an administrator, or an application of the organization, made the account a member",
    ),
]

"""What happens to memberships when an account gets a new owner."""

from typing import Final

from identity.organizations import services
from identity.users.user_data import UserData

USER_DATA: Final = [
    UserData(
        model="organizations.Membership",
        reason="an administrator, or an application of the organization, made the account a member",
        end_dependent_on=services.end_dependent_on,
    ),
]

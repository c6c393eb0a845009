"""Setting a new password, or a first one."""

from django.db import transaction

from identity.sessions.models import Session
from identity.users import credentials
from interaction.experience import policy
from interaction.experience import services as experiences
from interaction.journeys.second_factor import reauthentication, session_proofs, sign_ins
from interaction.journeys.second_factor.session_proofs import Renewed
from interaction.verification import resets


def change(session: Session, *, current: str, new: str) -> Renewed:
    """Set a password, and end every other session and all refresh tokens of the user.

    If the user had no password and signed in with a code, codes to this address are no second factor for a
    day: see ``resets``. Return this browser's session, which continues.

    Raises:
        policy.PasswordRefused: the new password breaks the tenant's policy.
        credentials.InvalidCredentials: the current password is wrong.
        Locked: too many passwords were wrong before.
        reauthentication.SignInAgain: the user has no password and the sign-in is too old, or the session
            ended meanwhile.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        records.Stale: the account was changed concurrently.
        passwords.Busy: too many passwords are being hashed.
        limits.TooMany: too many sign-ins from this network.

    """
    user, experience = session.user, experiences.current()
    own = (user.username, user.email, user.phone)
    policy.check(new, experience.password_policy, field="new_password", own=own)
    reauthentication.reauthenticate(session, current)
    kinds = frozenset() if user.password else sign_ins.find_first_channels(session)
    encoded = credentials.hash_new_password(new)
    with transaction.atomic():
        credentials.store_password(user, encoded, expected=frozenset({user.version}))
        resets.record(user, kinds)
        return session_proofs.renew(session, experience.tenant)

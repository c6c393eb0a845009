"""The second factors of the signed-in user, for a company's own account pages."""

from typing import Any

from identity.factors import settings_of_users
from identity.factors.challenges import Ceremony
from identity.factors.errors import FactorNotAllowed
from identity.factors.kinds import FactorType
from identity.sessions.models import Session
from interaction.journeys import user_factors
from interaction.journeys.account import factor_names, factors
from interaction.journeys.passkeys import enrolling, step_up
from interaction.journeys.second_factor import reauthentication, session_proofs
from interaction.journeys.second_factor.session_proofs import Renewed


def confirm(session: Session, fields: dict[str, Any], *, browser: str) -> Renewed:
    """Confirm that it is the user: with a password, with the code of a factor, or with a passkey.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        WrongFactor: the code is wrong or was used before, or there were too many wrong ones.
        PasskeyRefused: a check of the passkey failed.
        FactorNotAllowed: the user does not have this factor, or no password.
        reauthentication.ConfirmNeeded: the password is not enough, because the user has a second factor.
        limits.TooMany: too many from this network.

    """
    if "credential" in fields:
        return step_up.confirm(session, credential=fields["credential"], browser=browser)
    if "code" in fields:
        return session_proofs.confirm(session, factor=FactorType(fields["type"]), code=fields["code"])
    return session_proofs.confirm_password(session, fields["password"])


def create(
    session: Session, fields: dict[str, Any], *, browser: str
) -> tuple[dict[str, Any], Renewed | None]:
    """Set up a factor. Return what a list shows of it, or new backup codes, and the renewed session.

    Raises:
        reauthentication.ConfirmNeeded: the user has to confirm the identity.
        FactorNotAllowed: the tenant does not use this factor, or it needs no set-up.
        EnrolmentExpired: the secret is more than 15 minutes old, or of another user or session.
        WrongFactor: the code is not of this secret.
        PasskeyRefused: a check of the passkey failed.
        AlreadyEnrolled: the user has this factor.
        TooManyFactors: the user has as many as are allowed.
        backup_codes.NoOtherFactor: backup codes need another factor.

    """
    reauthentication.check_reauthenticated(session)
    factor, name = FactorType(fields["type"]), fields["name"]
    if factor is FactorType.BACKUP_CODE:
        return {"type": factor, "codes": factors.renew_backup_codes(session, password="")}, None
    if factor is FactorType.TOTP:
        renewed = factors.add_authenticator(
            session, enrolment=fields["enrolment"], code=fields["code"], name=name, password=""
        )
    elif factor is FactorType.WEBAUTHN:
        renewed = enrolling.confirm_in_session(
            session,
            Ceremony(fields["ceremony"]),
            credential=fields["credential"],
            name=name,
            browser=browser,
        )
    else:
        raise FactorNotAllowed("type: this factor cannot be set up here")
    return find(session, str(renewed.factor_id)), renewed


def find(session: Session, factor_id: str) -> dict[str, Any]:
    """Return what a list shows of a passkey or an authenticator of the user.

    Raises:
        NoSuchFactor: the user has no such factor with this id.

    """
    return user_factors.describe(factor_names.find(session, factor_id))


def rename(session: Session, factor_id: str, *, name: str) -> dict[str, Any]:
    """Give a passkey or an authenticator another name, and return what a list shows of it.

    Raises:
        reauthentication.ConfirmNeeded: the user has to confirm the identity.
        NoSuchFactor: the user has no such factor with this id.

    """
    reauthentication.check_reauthenticated(session)
    factor_names.rename(session, factor_id, name=name, password="")
    return find(session, factor_id)


def remove(session: Session, factor_id: str) -> Renewed:
    """Remove a factor as ``factors.remove`` does, and return the renewed session.

    Raises:
        reauthentication.ConfirmNeeded: the user has to confirm the identity.
        NoSuchFactor: the user has no factor with this id.
        FactorRequired: a policy demands a second factor, and this is the last one.
        NoWayIn: the user could not sign in any more.
        reauthentication.SignInAgain: the session ended meanwhile.

    """
    reauthentication.check_reauthenticated(session)
    return factors.remove(session, factor_id, password="")[1]


def switch_two_step(session: Session, *, is_on: bool | None, expected: frozenset[int] | None) -> None:
    """Store whether the user is asked for a second factor although no policy asks. None changes nothing.

    Raises:
        reauthentication.ConfirmNeeded: the user has to confirm the identity.
        FactorRequired: a policy demands a second factor, so it cannot be switched off.
        FactorNotAllowed: the user has no factor that could be asked for.
        Stale: the user has another version now than those in ``expected``.

    """
    reauthentication.check_reauthenticated(session)
    if is_on is None:
        settings_of_users.check_version(session.user, expected)
    else:
        factors.switch_two_step(session, is_on=is_on, password="", expected=expected)

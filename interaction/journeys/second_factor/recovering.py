"""A recovery code from an administrator, as the first factor of a user who has no other one."""

from audit import log
from audit.events import Event
from identity.factors import metrics
from identity.factors.errors import FactorNotAllowed, WrongFactor
from identity.factors.kinds import RECOVERY_CODE
from identity.factors.needed import FirstFactor
from identity.factors.policy import ENROLABLE
from identity.limits import rules
from identity.limits import services as limits
from identity.users import credentials, typed_identifiers
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import checking, starting
from interaction.journeys.second_factor.checking import CheckedCode
from interaction.journeys.second_factor.sign_ins import CombinedSuccess, Outcome, SignIn, Visit
from interaction.social import usable_accounts


def is_possible(experience: SignInExperience) -> bool:
    """Return whether the tenant has a factor that can be set up after a recovery code."""
    return not experience.factor_policy.factors.isdisjoint(ENROLABLE)


def has_other_way(user: User) -> bool:
    """Return whether a user has a password, an address, or a linked account that can sign in."""
    return _has_password_or_address(user) or usable_accounts.has_any(user)


def sign_in(visit: Visit, *, identifier: str, code: str) -> Outcome:
    """Use a recovery code as the first factor. The user then has to set up a new factor.

    Only users for whom ``has_other_way`` is false can do this. Others prove their first factor before they
    use the code: see ``verifying.redeem_recovery_code``. Wrong codes lock no user, because
    every client can send them. A code has 80 bits, so it cannot be guessed.

    Raises:
        FactorNotAllowed: the tenant has no factor that can be set up.
        WrongFactor: the code is not that of the user, was used before or has expired, or no user has the
            identifier, or the user has another first factor. The error does not say which.
        credentials.Suspended: the code is right, but the user is suspended. The code is not used up.
        limits.TooMany: too many wrong codes, or too many sign-ins, from this network.

    """
    login_attempt = limits.login_attempt(
        (rules.WRONG_CODES, limits.client_network()),
        failure=WrongFactor,
        locked=limits.TooMany,
        within=rules.SIGN_INS,
    )
    typed = typed_identifiers.build(identifier)
    log_attempt = log.attempt(Event.SIGN_IN_FIRST_FACTOR, typed, way=FirstFactor.RECOVERY)
    with login_attempt as counted, log_attempt as audited:
        audited.application_id = visit.application_id
        experience = visit.get_experience()
        if not is_possible(experience):
            raise FactorNotAllowed("a recovery code cannot be used: no factor can be set up in this tenant")
        user = User.objects.find_by_identifier(identifier).first()
        audited.set_identifier_known(user is not None)
        try:
            owner, checked = _check(user, code)
            return starting.start_session_or_store(
                owner,
                SignIn(way=FirstFactor.RECOVERY, amr=[]),
                experience=experience,
                visit=visit,
                audited=audited,
                to_succeed=CombinedSuccess((checked, counted)),
            )
        except credentials.InvalidCredentials:  # the user got a password concurrently
            raise WrongFactor from None
        except WrongFactor:
            metrics.count_proof(RECOVERY_CODE, is_right=False)
            raise


def _check(user: User | None, code: str) -> tuple[User, CheckedCode]:
    """Check the recovery code of a user without another first factor.

    For others the same statements run, so that the time does not reveal which users exist.

    Raises:
        WrongFactor: the code is wrong, or there is no such user.

    """
    owner = User() if user is None or _has_password_or_address(user) else user
    checked = checking.check_recovery_code(owner, code)
    if has_other_way(owner):
        raise WrongFactor
    return owner, checked


def _has_password_or_address(user: User) -> bool:
    return bool(user.password or user.email or user.phone)

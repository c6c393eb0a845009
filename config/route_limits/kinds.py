"""What limits a route: by address, by subject and by caller."""

from dataclasses import dataclass
from typing import Final

from identity.limits import rules
from identity.limits.rules import Limit, Lock

Rule = Limit | Lock


@dataclass(frozen=True, slots=True)
class Limited:
    """The limits of a route: by the client's address, by the user's account, and by the calling client."""

    address: tuple[Rule, ...] = ()
    subject: tuple[Rule, ...] = ()
    caller: tuple[Rule, ...] = ()
    note: str = ""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All limits of the route."""
        return self.address + self.subject + self.caller


LOCKS: Final = (rules.PAIR, rules.IDENTIFIER)
CODE_SENDS_SIGNED_IN: Final = (rules.CODE_PAUSE, rules.CODES, rules.CODES_FROM_ANYWHERE)
KNOWN_BROWSERS: Final = (rules.CODES_KNOWN_BROWSER, rules.CODES_KNOWN_BROWSERS)
CODE_SENDS: Final = (*CODE_SENDS_SIGNED_IN, *KNOWN_BROWSERS)
FACTOR_SENDS: Final = (rules.CODE_PAUSE, rules.CODES, rules.CODES_SECOND_STEP, *KNOWN_BROWSERS)
ADMINISTRATOR: Final = (rules.ADMINISTRATOR, rules.ADMINISTRATOR_FROM_ANYWHERE, rules.SECOND_STEP)
RECOVERIES: Final = (rules.RECOVERIES, rules.RECOVERIES_FROM_ANYWHERE)

PASSWORD: Final = Limited((rules.SIGN_INS,), (*LOCKS, rules.KNOWN_BROWSER))
SEND: Final = Limited((rules.CODE_SENDS,), CODE_SENDS, (rules.TENANT_TEXT_CODES,))
ENTER_CODE: Final = Limited((rules.SIGN_INS, rules.WRONG_CODES), note="five attempts per code")
SEND_AND_ENTER_CODE: Final = Limited(
    (rules.CODE_SENDS, rules.SIGN_INS, rules.WRONG_CODES),
    CODE_SENDS,
    (rules.TENANT_TEXT_CODES,),
    note="five attempts per code",
)
STORES_REQUEST: Final = Limited(
    (rules.PARKED_WITHOUT_COOKIE, rules.PARKED), note="at most twenty per browser"
)
TOKEN_REQUEST: Final = Limited((rules.TOKEN_FAILURES,), (), (rules.CLIENT_FAILURES,))
ADMIN_SIGN_IN: Final = Limited((rules.SIGN_INS,), ADMINISTRATOR)
ADMIN_SITE: Final = Limited((rules.SIGN_INS,), (*ADMINISTRATOR, *RECOVERIES))
CONFIRM_PASSWORD: Final = Limited((rules.SIGN_INS,), LOCKS, note="needs a session; asks for the password")
CHANGE_USERNAME: Final = Limited(
    (rules.SIGN_INS, rules.REGISTRATIONS),
    (*LOCKS, rules.PROFILE_CHANGES),
    note="needs a session; asks for the password",
)
CHANGE_PROFILE: Final = Limited(subject=(rules.PROFILE_CHANGES,), note="needs a session")
FACTOR: Final = Limited((rules.SIGN_INS,), (rules.SECOND_FACTOR,), note="needs a pending sign-in")
RECOVERY_CODE: Final = Limited(
    (rules.SIGN_INS, rules.WRONG_CODES),
    (rules.SECOND_FACTOR,),
    note="needs a pending sign-in, or an identifier and a code of 80 bits",
)
RECOVERY_PAGE: Final = Limited((rules.SIGN_INS, rules.WRONG_CODES), note="a code has 80 bits")
SEND_FACTOR: Final = Limited(
    (rules.CODE_SENDS,),
    FACTOR_SENDS,
    (rules.TEXT_MESSAGES,),
    note="needs a pending sign-in or a session",
)
FACTOR_PAGE: Final = Limited(
    (rules.SIGN_INS, rules.CODE_SENDS),
    (rules.SECOND_FACTOR, *FACTOR_SENDS),
    (rules.TEXT_MESSAGES,),
    note="needs a pending sign-in or a session",
)
SET_UP: Final = Limited((rules.SIGN_INS,), note="needs a pending sign-in")
CONFIRM_FACTORS: Final = Limited((rules.SIGN_INS,), LOCKS, note="needs a session; may ask for the password")
SOCIAL: Final = Limited((rules.SIGN_INS,))


def free(note: str) -> Limited:
    """Return no limits, for a route that needs none. The note says why."""
    return Limited(note=note)


PENDING: Final = free("needs a pending sign-in")
STATIC: Final = free("reads from memory")
READS: Final = free("only reads")
SESSION: Final = free("needs a session")
CONFIRMED: Final = free("needs a session that was confirmed a moment ago")
TOKEN: Final = free("needs an access token; only reads")
THIRD_PARTY: Final = free("needs an application's token with the member role")

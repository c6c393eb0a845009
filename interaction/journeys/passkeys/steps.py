"""Each ceremony by its name: the options that a browser gets, and what its answer does."""

from typing import Any

from identity.factors.challenges import Ceremony
from interaction.journeys import sign_in_or_session
from interaction.journeys.passkeys import enrolling, second_step, signing_in, step_up
from interaction.journeys.second_factor.session_proofs import Renewed
from interaction.journeys.second_factor.sign_ins import Outcome, Visit


def get_options(visit: Visit, *, ceremony: Ceremony) -> dict[str, Any]:
    """Return the options of a ceremony, for ``navigator.credentials``.

    A passkey is set up in the pending sign-in of the browser, else in its session.

    Raises:
        NotSignedIn: the browser has neither.
        FactorNotAllowed: the tenant does not use passkeys for this.

    """
    if ceremony is Ceremony.SIGN_IN:
        return signing_in.get_options(visit)
    if ceremony is Ceremony.SECOND_FACTOR:
        return second_step.get_options(visit)
    if ceremony is Ceremony.CONFIRM:
        return step_up.get_options(sign_in_or_session.get_session(visit), browser=visit.browser)
    if (step := sign_in_or_session.find_step(visit)) is not None:
        return enrolling.get_options_in_sign_in(step, ceremony)
    return enrolling.get_options_in_session(
        sign_in_or_session.get_session(visit), ceremony, browser=visit.browser
    )


def verify(  # noqa: PLR0913 - the members of the request
    visit: Visit,
    *,
    ceremony: Ceremony,
    credential: object,
    name: str = "",
    password: str = "",
    keep_signed_in: bool = False,
    remember: bool = False,
) -> Outcome | Renewed:
    """Do what the answer of a ceremony allows.

    Raises:
        NotSignedIn: the browser has neither a pending sign-in nor a session.
        PasskeyRefused: a check failed.
        FactorNotAllowed: the tenant does not use passkeys for this.
        credentials.Suspended: the passkey is right, but the user is suspended.
        limits.TooMany: too many sign-ins from this network.

    """
    if ceremony is Ceremony.SIGN_IN:
        return signing_in.sign_in(visit, credential=credential, keep_signed_in=keep_signed_in)
    if ceremony is Ceremony.SECOND_FACTOR:
        return second_step.verify(visit, credential=credential, remember=remember)
    if ceremony is Ceremony.CONFIRM:
        return step_up.confirm(
            sign_in_or_session.get_session(visit), credential=credential, browser=visit.browser
        )
    if (step := sign_in_or_session.find_step(visit)) is not None:
        return enrolling.confirm_in_sign_in(step, ceremony, credential=credential, name=name)
    return enrolling.confirm_in_session(
        sign_in_or_session.get_session(visit),
        ceremony,
        credential=credential,
        name=name,
        password=password,
        browser=visit.browser,
    )

"""What a sign-in has proven before its session starts, and its possible results."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.urls import reverse

from database import chains
from database.chains import Chain
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.models import Authenticator
from identity.factors.needed import RISK, FirstFactor, Need
from identity.sessions.known_users import NO_KNOWN_USERS, KnownUsers
from identity.sessions.models import Session
from identity.sessions.proof_secrets import ProofSecret
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import available_factors
from interaction.pending_sign_ins.models import PendingSignIn
from interaction.social.proven_accounts import ProvenAccount
from oidc.grants import remembered


class SupportsSucceed(Protocol):
    """What succeeds with a sign-in, and only once: a counted attempt, a code, or the answer of a passkey."""

    def succeed(self, chain: Chain | None = None) -> None:
        """Store the success, in the transaction or the chain of the changes that it allows."""


@dataclass(frozen=True, slots=True)
class CombinedSuccess:
    """Several parts, which succeed together.

    Sign-ins, step-ups and resets lock rows in one order: the user's, that of the code, the counter's, that of
    the session. So the code comes before the counter of attempts.
    """

    parts: tuple[SupportsSucceed, ...]

    def succeed(self, chain: Chain | None = None) -> None:
        """Store the success of each part."""
        with chains.joined(chain) as writes:
            for part in self.parts:
                part.succeed(writes)


@dataclass(frozen=True, slots=True)
class SignInResult:
    """The URL of the next page, the secret for the browser's session cookie, and the user.

    The cookie lives for ``cookie_seconds``, or until the browser closes if that is None. ``known`` is what
    the browser's other cookie holds from now on, if the sign-in has changed it.
    """

    redirect_to: str
    session_token: str
    user: User
    cookie_seconds: int | None
    session: Session
    known: KnownUsers | None = None


@dataclass(frozen=True, slots=True)
class SecondFactorNeeded:
    """The URL of the page for the second factor. There is no session.

    The browser needs the new ``secret`` to go on. ``may_remember``: the user may have this browser
    remembered.
    """

    redirect_to: str
    secret: ProofSecret
    need: Need
    pending: PendingSignIn
    may_remember: bool


@dataclass(frozen=True, slots=True)
class Continued:
    """The URL of the next page. No session has started or changed.

    If something was proven, the browser needs the new ``secret`` on that page.
    """

    redirect_to: str
    secret: ProofSecret | None = None


Outcome = SignInResult | SecondFactorNeeded | Continued


@dataclass(frozen=True, slots=True)
class Visit:
    """What a browser brings to a sign-in: the hash of its cookie, its pending request, and its session.

    ``known`` is what its cookie of known users holds, and ``proofs`` are the hashes of the secrets that it
    got with its proofs. For a second step, ``stored`` is its pending sign-in,
    if there is one, and ``experience`` that of the tenant. ``authenticators`` are those of the user who signs
    in, if they were read.
    """

    browser: str
    pending: Pending | None
    current: Session | None
    known: KnownUsers = NO_KNOWN_USERS
    proofs: tuple[str, ...] = ()
    stored: PendingSignIn | None = None
    experience: SignInExperience | None = None
    authenticators: Sequence[Authenticator] | None = None

    @property
    def next_url(self) -> str:
        """The URL of the page after the sign-in."""
        return self.pending.resume_url if self.pending else reverse("pages:account")

    @property
    def application_id(self) -> UUID | None:
        """The id of the application that sent the pending request; None without such a request."""
        return self.pending.application.pk if self.pending else None

    def get_experience(self) -> SignInExperience:
        """Return the experience of the tenant, which is read now if it was not read with the visit."""
        return self.experience or experiences.current()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """What a sign-in has proven so far.

    ``proven`` is the kind and the key of the identifier that the user has just proven. ``account`` is the
    account elsewhere that proved the first factor. ``entered`` are the kinds of address whose code was
    entered, or whose mailbox may be that of the account elsewhere.
    ``auth_time`` is the time of the authentication, if it was not now. ``keep_signed_in`` counts only if the
    tenant lets users choose. ``second`` is the second factor, and ``finishing`` the stored sign-in that it
    completes. ``skips``: the user declined an offered second factor. ``remember``: the user wishes to have
    this browser remembered. ``is_remembered`` and ``risks`` are the circumstances; ``risks`` is None until
    they are found.
    """

    way: str
    amr: list[str]
    level: int = Level.ONE
    entered: frozenset[Kind] = frozenset()
    auth_time: datetime | None = None
    keep_signed_in: bool = False
    proven: tuple[Kind, str] | None = None
    account: ProvenAccount | None = None
    second: FactorType | None = None
    skips: bool = False
    finishing: PendingSignIn | None = None
    remember: bool = False
    is_remembered: bool = False
    risks: tuple[str, ...] | None = None


def get_step_url(need: Need, pending: Pending | None) -> str:
    """Return the URL of the page for what a sign-in still needs, for a pending request."""
    return page_url("pages:second-factor" if need.methods else "pages:set-up", pending)


def of_session(session: Session) -> SignIn:
    """Return what a session has proven.

    ``entered`` is known only if a code or an account elsewhere was the only factor. After two factors it does
    not matter.
    """
    return SignIn(
        way=FirstFactor.SESSION,
        amr=session.amr,
        level=session.level,
        entered=_find_entered(session) if session.level == Level.ONE else frozenset(),
        auth_time=session.auth_time,
        is_remembered=remembered.counts(session),
    )


def _find_entered(session: Session) -> frozenset[Kind]:
    if "otp" in session.amr:
        return frozenset({Kind.PHONE if "sms" in session.amr else Kind.EMAIL})
    if session.amr:
        return frozenset()
    # The session began with an account elsewhere.
    return available_factors.find_mailbox_of_account(session.user, experiences.current().factor_policy)


def find_first_channels(session: Session) -> frozenset[Kind]:
    """Return the kinds of address that may have been the channel of a session's first factor.

    That is the email for an account elsewhere, which a person who controls the mailbox often controls. After
    two factors, ``amr`` tells neither whether an account elsewhere was the first, nor which of them had
    ``sms``.
    """
    if "pwd" in session.amr:
        return frozenset()
    if session.amr and session.level == Level.ONE:
        return of_session(session).entered
    return frozenset({Kind.EMAIL, Kind.PHONE} if "sms" in session.amr else {Kind.EMAIL})


def read(stored: PendingSignIn) -> SignIn:
    """Return what a stored sign-in has proven."""
    return SignIn(
        way=stored.way,
        amr=stored.amr,
        level=stored.level,
        entered=frozenset(map(Kind, stored.channels)),
        auth_time=stored.auth_time,
        keep_signed_in=stored.keep_signed_in,
        proven=(Kind(stored.channels[0]), stored.proven_key) if stored.proven_key else None,
        finishing=stored,
        risks=tuple(reason.removeprefix(RISK) for reason in stored.reasons if reason.startswith(RISK)),
    )

"""What a browser brings to a sign-in, read from its request."""

from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID

from django.db.models import QuerySet, Subquery
from django.http import HttpRequest

from database import ids
from identity.core.tenant_statements import JoinedSelects, Select
from identity.factors import authenticators
from identity.factors.kinds import FactorType
from identity.factors.models import Authenticator
from identity.sessions import cookies
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys import pending as pending_requests
from interaction.journeys.pending import Pending
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from interaction.pending_sign_ins.models import PendingSignIn
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest


def _get_request_of_newest() -> QuerySet[AuthorizationRequest]:
    newest = pending_sign_ins.get_live().values("request_id")[:1]
    return requests.get_unexpired().filter(pk=Subquery(newest))[:1]


def _get_authenticators(pending: Select[PendingSignIn]) -> Select[Authenticator]:
    return Select(lambda: authenticators.get_timed(user_id__in=pending.build().values("user_id")))


# What a second step reads, in one statement: for the request that the browser names, or for the newest
# sign-in of the browser.
_FOR_REQUEST: Final = (pending_sign_ins.OF_REQUEST, requests.BY_ID, experiences.CURRENT)
_FOR_NEWEST: Final = (pending_sign_ins.NEWEST, Select(_get_request_of_newest), experiences.CURRENT)
_STATEMENTS: Final = {  # by whether the browser names a request, and whether authenticators are read
    (True, False): JoinedSelects(*_FOR_REQUEST),
    (True, True): JoinedSelects(*_FOR_REQUEST, _get_authenticators(pending_sign_ins.OF_REQUEST)),
    (False, False): JoinedSelects(*_FOR_NEWEST),
    (False, True): JoinedSelects(*_FOR_NEWEST, _get_authenticators(pending_sign_ins.NEWEST)),
}

# What the first step of the interaction API reads, in one statement. The user is read after the limits of the
# attempt: otherwise a refusal would take longer for a known identifier.
_BY_ID: Final = JoinedSelects(experiences.CURRENT, requests.BY_ID)
_NEWEST: Final = JoinedSelects(experiences.CURRENT, requests.NEWEST)


def of(request: HttpRequest, pending: Pending | None) -> Visit:
    """Return the browser of a request, with the pending request that its sign-in belongs to."""
    current, known = cookies.current_session(request), cookies.get_known_users(request)
    return Visit(cookies.get_browser(request), pending, current, known, cookies.get_proofs(request))


def without_session(request: HttpRequest, pending: Pending | None) -> Visit:
    """Return the browser of a request for a step that needs no session. The session is not read."""
    return Visit(cookies.get_browser(request), pending, None, proofs=cookies.get_proofs(request))


def find_for_first_factor(request: HttpRequest, interaction: str) -> Visit:
    """Return the browser of a first step, with the pending request of ``pending.find``.

    Raises:
        pending.Expired: the browser has no pending request with this id.

    """
    browser, proofs = cookies.get_browser(request), cookies.get_proofs(request)
    request_id = pending_requests.parse_id(interaction)
    if not browser:
        return of(request, pending_requests.read_found(None, request_id))
    statement = _NEWEST if request_id is None else _BY_ID
    [(experience, row)] = statement.all(browser=browser, proofs=proofs, pk=request_id)
    if row is not None:
        requests.mark_trial(row)
    return replace(of(request, pending_requests.read_found(row, request_id)), experience=experience)


def find(request: HttpRequest, interaction: str, factor: FactorType | None = None) -> Visit:
    """Return the browser of a second step, with the pending request that its sign-in belongs to.

    Without ``interaction``, that is the request of the browser's newest pending sign-in. ``factor`` is what
    the browser is about to prove, if that is known.

    Raises:
        pending.Expired: the browser has no pending request with this id.

    """
    browser, proofs = cookies.get_browser(request), cookies.get_proofs(request)
    request_id = ids.parse(interaction)
    if interaction and (request_id is None or not browser):
        raise pending_requests.Expired
    if not browser:
        return of(request, None)
    found = _read(browser, proofs, request_id, is_totp=factor is FactorType.TOTP)
    pending = None
    if found.request is not None:
        requests.mark_trial(found.request)
        pending = pending_requests.read(found.request)
    elif request_id or (found.sign_in and found.sign_in.request_id):
        raise pending_requests.Expired
    elif not found.sign_in:
        pending = pending_requests.find(request, "")
    return replace(
        of(request, pending),
        stored=found.sign_in,
        experience=found.experience,
        authenticators=found.authenticators,
    )


class _Found(NamedTuple):
    """What a second step reads. ``authenticators`` are read only for a code of one."""

    sign_in: PendingSignIn | None
    request: AuthorizationRequest | None
    experience: SignInExperience | None
    authenticators: list[Authenticator] | None


def _read(browser: str, proofs: tuple[str, ...], request_id: UUID | None, *, is_totp: bool) -> _Found:
    values: dict[str, object] = {"browser": browser, "proofs": proofs}
    if request_id is not None:
        values |= {"pk": request_id, "request_id": request_id}
    rows = _STATEMENTS[request_id is not None, is_totp].all(**values)
    sign_in, request, experience, *_ = rows[0]  # the rows differ only in the authenticator
    own = [row[-1] for row in rows if row[-1] is not None] if is_totp else None
    return _Found(sign_in, request, experience, own)

"""Storing, finding and finishing sign-ins that wait for a second factor."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import F, Q, QuerySet

from database import chains
from database.chains import Chain
from database.clock import DatabaseNow, seconds_ahead
from database.statements import Insert
from identity.core.errors import ServiceError
from identity.core.tenant_statements import Delete, Select, Update, text, uuid
from identity.factors.needed import FirstFactor
from identity.sessions import proof_secrets
from identity.sessions.proof_secrets import ProofSecret
from identity.users.models import User
from interaction.pending_sign_ins.models import PendingSignIn

MOST_TRIES: Final = 10


def get_live() -> QuerySet[PendingSignIn]:
    """Return the live sign-ins of a browser, with users, the newest first.

    The parameters are ``browser`` and ``proofs``, the hashes of its secrets. A new password, a suspension, a
    sign-out everywhere or a new owner increments the epoch, which ends a sign-in.
    """
    live = PendingSignIn.objects.filter(
        proof_secrets.opened(),
        browser=text("browser"),
        done_at=None,
        tries__lt=MOST_TRIES,
        expires_at__gt=DatabaseNow(),
        user__epoch=F("epoch"),
    )
    return live.select_related("user").order_by("-created_at", "-pk")


NEWEST: Final = Select(lambda: get_live()[:1])
OF_REQUEST: Final = Select(lambda: get_live().filter(request_id=uuid("request_id"))[:1])

_insert: Final = Insert(
    PendingSignIn,
    including=["proven_key"],
    expires_at=seconds_ahead(settings.PENDING_SIGN_IN_SECONDS),
)


def _delete_replaced(request: Q) -> Delete:
    return Delete(
        lambda: PendingSignIn.objects.filter(
            request, proof_secrets.opened(), browser=text("browser"), done_at=None
        )
    )


_delete_of_request: Final = _delete_replaced(Q(request_id=uuid("request_id")))
_delete_without_request: Final = _delete_replaced(Q(request_id=None))


def _mark_done(way: Q, **changes: object) -> Update:
    return Update(
        lambda: PendingSignIn.objects.filter(
            way, pk=uuid("pk"), done_at=None, tries__lt=MOST_TRIES, expires_at__gt=DatabaseNow()
        ),
        done_at=DatabaseNow(),
        **changes,
    )


_finish: Final = _mark_done(~Q(way=FirstFactor.FORGOT_PASSWORD))
_allow_reset: Final = _mark_done(Q(way=FirstFactor.FORGOT_PASSWORD), secret_hash=text("secret_hash"))


class NothingPending(ServiceError):
    """This browser has no sign-in that waits for a second factor, or it has ended."""

    status = 404
    reason = "nothing_under_way"
    message = "no sign-in waits for a second factor here: start again"
    result = {"reason": "nothing_under_way"}


def store(  # noqa: PLR0913 - one parameter a column
    user: User,
    *,
    browser: str,
    secret_hash: str | None,
    proofs: Sequence[str],
    request_id: UUID | None,
    way: str,
    amr: list[str],
    level: int,
    auth_time: datetime,
    channels: list[str],
    reasons: list[str],
    must_enrol: bool,
    keep_signed_in: bool,
    proven_key: str = "",
    social_id: UUID | None = None,
) -> PendingSignIn:
    """Store a sign-in, which replaces the one of the same browser and request.

    ``secret_hash`` is of the secret that the browser needs to go on, and ``proofs`` are of its earlier ones.
    """
    if request_id is None:
        _delete_without_request(browser=browser, proofs=proofs)
    else:
        _delete_of_request(browser=browser, proofs=proofs, request_id=request_id)
    pending = PendingSignIn(
        user=user,
        browser=browser,
        secret_hash=secret_hash,
        request_id=request_id,
        epoch=user.epoch,
        factors_seen=user.factors,
        way=way,
        amr=amr,
        level=level,
        auth_time=auth_time,
        channels=channels,
        reasons=reasons,
        must_enrol=must_enrol,
        keep_signed_in=keep_signed_in,
        proven_key=proven_key,
        social_id=social_id,
    )
    _insert(pending)
    return pending


def count_try(pending: PendingSignIn) -> None:
    """Count a wrong code. The tenth ends the sign-in."""
    PendingSignIn.objects.filter(pk=pending.pk).update(tries=F("tries") + 1)


def finish(pending: PendingSignIn, chain: Chain | None = None) -> None:
    """Mark a sign-in as done, in the chain that starts its session, so that two tabs start one session.

    Raises:
        NothingPending: another request was first, or it has ended.

    """
    with chains.joined(chain) as writes:
        writes.add(_finish, {"pk": pending.pk}, refusal=NothingPending)


def allow_reset(pending: PendingSignIn, secret: ProofSecret, chain: Chain | None = None) -> None:
    """Mark a second factor as proven for a forgotten password, which starts no session.

    The browser needs the new secret to set the password.

    Raises:
        NothingPending: another request was first, or it has ended.

    """
    with chains.joined(chain) as writes:
        values = {"pk": pending.pk, "secret_hash": secret.hash}
        writes.add(_allow_reset, values, refusal=NothingPending)


def is_reset_allowed(user: User, browser: str, proofs: Sequence[str]) -> bool:
    """Return whether the user proved a second factor in this browser to replace the password.

    ``proofs`` are the hashes of its secrets. The proof is valid until ten minutes after the step began. A
    new password increments the epoch, which ends it.
    """
    proven = PendingSignIn.objects.filter(
        proof_secrets.opened_by(proofs),
        browser=browser,
        user=user,
        epoch=user.epoch,
        way=FirstFactor.FORGOT_PASSWORD,
        done_at__isnull=False,
        expires_at__gt=DatabaseNow(),
    )
    return proven.exists()

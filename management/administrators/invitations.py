"""Invitations of administrators: a link by which the invited person chooses username and password.

An invitation gives rights of its inviter. It ends when the inviter may no longer create administrators.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from audit import log
from audit.events import Event
from database.clock import DatabaseNow, seconds_ahead
from identity.core import audit_facts, records, tenancy
from identity.core.errors import ServiceError
from identity.users import identifiers
from management.administrators import languages, mail, proof, services, session_check
from management.administrators.invitation_tokens import hash_token, new_token
from management.administrators.models import Administrator, Invitation, Role

LIFETIME_SECONDS: Final = 72 * 3600
_LINK_COLUMNS: Final = ("token_hash", "is_mailed", "is_refused", "expires_at")
_BODY: Final = _(
    """Hello,

%(by)s invites you to become an administrator of %(site)s.

To choose a username and a password, open this link within three days. It works once.

%(link)s

If you did not expect this invitation, ignore this message.
"""
)


class AlreadyInvited(ServiceError):
    """The address has an invitation that is still valid."""

    reason = "already_invited"
    message = gettext_noop("email: this address already has an invitation: send it again, or revoke it first")
    field = "email"


class InvitationEnded(ServiceError):
    """The link is unknown, or its invitation was used, was revoked, expired or lost its inviter."""

    status = 410
    reason = "invitation_ended"
    message = gettext_noop("this invitation is no longer valid: ask for a new one")


@dataclass(frozen=True, slots=True)
class Invited:
    """A stored invitation. ``link`` is empty if it was sent by mail, or is sent after the transaction."""

    invitation: Invitation
    link: str


def invite(  # noqa: PLR0913 - one parameter for each field
    *,
    email: str,
    is_superuser: bool = False,
    role: str = Role.ADMINISTRATOR,
    tenants: list[str] | None = None,
    by: Administrator,
    current_password: str = "",
    current_code: str = "",
) -> Invited:
    """Invite a person to become an administrator; ``tenants`` are slugs.

    The link is sent to the email after the transaction. The caller gets the link if no mail server is
    configured, or if it refuses the mail: a caller with a transaction learns that from ``is_refused`` only.
    ``current_password`` and ``current_code`` are those of ``by``, the inviting administrator.

    Raises:
        AlreadyInvited: the address has an invitation that is still valid.
        Invalid: a slug is unknown, or a field breaks a rule.
        proof.ProofNeeded, proof.NotProven: ``by`` has to re-authenticate.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    proof.check(by, password=current_password, code=current_code)
    invitation = Invitation(
        email=identifiers.clean_email(email),
        email_key=identifiers.fold(email),
        is_superuser=is_superuser,
        role=role,
        invited_by=by,
    )
    managed = services.find_tenants(tenants or [])
    token = _set_token(invitation)
    with transaction.atomic():
        session_check.lock(by)
        ended = Invitation.objects.filter(email_key=invitation.email_key, expires_at__lte=DatabaseNow())
        ended.delete()
        try:
            with records.refusing_duplicates(invitation):
                invitation.save(force_insert=True)
        except records.Taken:
            raise AlreadyInvited from None
        invitation.tenants.set(managed)
        facts = audit_facts.new_row_facts(invitation)
        facts["values"]["tenants"] = sorted(tenant.slug for tenant in managed)
        log.record(Event.INVITATION_CREATE, id=invitation.pk, email=invitation.email, **facts)
    return _deliver(invitation, token)


def renew(
    invitation: Invitation,
    *,
    by: Administrator,
    by_mail: bool = True,
    current_password: str = "",
    current_code: str = "",
) -> Invited:
    """Replace the link of an invitation, and make ``by`` its inviter.

    Without ``by_mail`` the caller gets the link, so the link proves no email.

    Raises:
        proof.ProofNeeded, proof.NotProven: ``by`` has to re-authenticate.
        records.Gone: the invitation was accepted or revoked.
        session_check.SessionEnded: as ``invite``.

    """
    proof.check(by, password=current_password, code=current_code)
    token = _set_token(invitation, by_mail=by_mail)
    invitation.invited_by = by
    fields = {name: getattr(invitation, name) for name in _LINK_COLUMNS}
    with transaction.atomic():
        session_check.lock(by)
        records.change(
            invitation,
            {**fields, "invited_by": by},
            event=Event.INVITATION_RENEW,
            changed_fields=[],
            old_values=dict.fromkeys([*fields, "invited_by"]),
            email=invitation.email,
        )
    return _deliver(invitation, token)


@transaction.atomic
def revoke(invitation: Invitation, *, by: Administrator, expected: frozenset[int] | None = None) -> None:
    """Delete an invitation. Its link no longer works.

    Raises:
        records.Gone: the invitation was accepted or revoked.
        records.Stale: the invitation was changed since the caller read it.
        session_check.SessionEnded: as ``invite``.

    """
    session_check.lock(by)
    records.remove(invitation, event=Event.INVITATION_DELETE, expected=expected, email=invitation.email)


def find(token_hash: str) -> Invitation:
    """Return the invitation of a link.

    Raises:
        InvitationEnded: there is no such invitation, or it is no longer valid.

    """
    live = Invitation.objects.filter(token_hash=token_hash, expires_at__gt=DatabaseNow())
    invitation = live.select_related("invited_by").first()
    if invitation is None or not invitation.invited_by.manages_everything:
        raise InvitationEnded
    return invitation


def accept(token_hash: str, *, username: str, password: str) -> Administrator:
    """Create the invited administrator, and end the invitation.

    The email is proven if the link was sent there and shown to nobody.

    Raises:
        InvitationEnded: the invitation is no longer valid.
        Invalid: the username is taken, or a field breaks a rule.
        passwords.Busy: too many sign-ins at once.

    """
    invitation = find(token_hash)
    administrator = services.build(
        username=username,
        password=password,
        email=invitation.email,
        proven_email=invitation.email if invitation.is_mailed else None,
        is_superuser=invitation.is_superuser,
        role=invitation.role,
    )
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        _end(invitation)
        managed = list(invitation.tenants.all())
        services.add(administrator, managed, invited_by=invitation.invited_by_id)
        log.record(Event.INVITATION_ACCEPT, id=invitation.pk, username=administrator.username)
        # Last, because this also deletes the invitation's links to tenants, which are needed above.
        invitation.delete()
    return administrator


def _end(invitation: Invitation) -> None:
    """Lock the inviter, and replace the invitation's hash, so that only one of two requests uses it.

    Raises:
        InvitationEnded: the invitation was used, revoked or renewed, expired, or lost its inviter.

    """
    inviter = Administrator.objects.select_for_update().filter(pk=invitation.invited_by_id).first()
    live = Invitation.objects.filter(
        pk=invitation.pk, token_hash=invitation.token_hash, expires_at__gt=DatabaseNow()
    )
    used: dict[str, Any] = {"token_hash": hash_token(new_token())}
    if inviter is None or not inviter.manages_everything or not live.update(**used):
        raise InvitationEnded


def _set_token(invitation: Invitation, *, by_mail: bool = True) -> str:
    token = new_token()
    invitation.token_hash = hash_token(token)
    invitation.expires_at = seconds_ahead(LIFETIME_SECONDS)
    invitation.is_mailed, invitation.is_refused = by_mail and mail.is_configured(), False
    return token


def _deliver(invitation: Invitation, token: str) -> Invited:
    link = mail.build_link(f"/admin/invitation/{token}/")
    if not invitation.is_mailed:
        return Invited(invitation, link)
    # Not in the transaction: a slow mail server must not hold its locks.
    transaction.on_commit(partial(_send, invitation, link))
    return Invited(invitation, link if invitation.is_refused else "")


def _send(invitation: Invitation, link: str) -> None:
    """Send the link. If the mail server refuses it, store that: the link then proves no email."""
    with languages.using(invitation.invited_by):
        site = mail.get_site_name()
        subject = gettext("Invitation to %(site)s") % {"site": site}
        body = _BODY % {"by": invitation.invited_by, "site": site, "link": link}
    try:
        mail.send(invitation.email, subject, body)
    except mail.NotSent:
        invitation.is_mailed, invitation.is_refused = False, True
        current = Invitation.objects.filter(pk=invitation.pk, token_hash=invitation.token_hash)
        current.update(is_mailed=False, is_refused=True)

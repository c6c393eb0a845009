"""Creating, changing and deleting administrators."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core import audit_facts, records
from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.tenants.models import Tenant
from identity.users import identifiers
from management.administrators import (
    password_rules,
    proof,
    replaced_passwords,
    rights,
    session_check,
    single_sign_on,
)
from management.administrators.models import Administrator, Role


def create(  # noqa: PLR0913 - one parameter for each field
    *,
    username: str,
    password: str,
    email: str = "",
    phone: str = "",
    is_superuser: bool = False,
    role: str = Role.ADMINISTRATOR,
    tenants: list[str] | None = None,
    by: Administrator | None = None,
    current_password: str = "",
    current_code: str = "",
) -> Administrator:
    """Create an administrator; ``tenants`` are slugs.

    ``current_password`` and ``current_code`` are those of ``by``, the administrator who creates the new one.

    Raises:
        Invalid: the username is taken, a slug is unknown, or a field breaks a rule.
        proof.ProofNeeded, proof.NotProven: ``by`` has to re-authenticate.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    if by is not None:
        proof.check(by, password=current_password, code=current_code)
    administrator = build(
        username=username, password=password, is_superuser=is_superuser, role=role,
        email=identifiers.clean_email(email) if email else "",
        phone=identifiers.clean_phone(phone) if phone else "",
    )  # fmt: skip
    add(administrator, find_tenants(tenants or []), by=by)
    return administrator


def build(*, username: str, password: str, **columns: Any) -> Administrator:
    """Return an unsaved administrator with a hashed password.

    Raises:
        Invalid: the username or the password breaks a rule.

    """
    name = identifiers.clean_username(username)
    administrator = Administrator(username=name, username_key=identifiers.fold(name), **columns)
    administrator.password = password_rules.hash_new(password, name, administrator.email)
    return administrator


@transaction.atomic
def add(
    administrator: Administrator, managed: list[Tenant], *, by: Administrator | None = None, **facts: Any
) -> None:
    """Insert a new administrator who manages these tenants. ``facts`` are for the audit entry.

    Raises:
        records.Taken: the username is taken.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    if by is not None:
        session_check.lock(by)
    try:
        with transaction.atomic():
            administrator.save(force_insert=True)
    except IntegrityError:
        raise records.Taken("username") from None
    administrator.tenants.set(managed)
    facts |= audit_facts.new_row_facts(administrator)
    facts["fields"] = sorted({*facts["fields"], *(["tenants"] if managed else [])})
    facts["values"]["tenants"] = sorted(tenant.slug for tenant in managed)
    log.record(Event.ADMINISTRATOR_CREATE, id=administrator.pk, username=administrator.username, **facts)


def change(
    administrator: Administrator,
    fields: dict[str, Any],
    *,
    expected: frozenset[int] | None = None,
    by: Administrator | None = None,
) -> None:
    """Change an administrator. A new password, another role or another ``is_superuser`` ends earlier tokens.

    If another administrator sets the password, the email is unproven, and everything ends that the old
    password gave: see ``replaced_passwords``. If the administrator no longer manages everything, the
    invitations that the administrator sent are revoked.

    In ``fields``, ``current_password`` and ``current_code`` are those of ``by``, the administrator who makes
    the change. They are needed to set a password or to change what the administrator may do.

    Raises:
        Invalid: a slug is unknown, or a field breaks a rule.
        rights.LastSuperuser: the change would leave no administrator of every tenant.
        records.Stale: the administrator was changed since the caller read it.
        session_check.SessionEnded: the credentials or rights of who makes the change have changed since the
            request began, so a recovered password and a demotion stay.
        proof.ProofNeeded, proof.NotProven: ``by`` has to re-authenticate.

    """
    own_proof = {name: fields[name] for name in ("current_password", "current_code") if name in fields}
    fields = {name: value for name, value in fields.items() if name not in own_proof}
    is_proven = by is None
    if by is not None and ("password" in fields or rights.are_changed(administrator, fields)):
        proof.check(
            by, password=own_proof.get("current_password", ""), code=own_proof.get("current_code", "")
        )
        is_proven = True
    columns = _build_columns(administrator, fields)
    managed = find_tenants(fields["tenants"]) if "tenants" in fields else None
    is_replaced = "password" in columns and by is not None and by.pk != administrator.pk
    if is_replaced:
        columns["proven_email"] = None  # a person who knew the old password could have proven it
    with transaction.atomic():
        if rights.are_named(fields) or by is not None:
            columns |= rights.lock_for_change(administrator, fields, by=by, is_proven=is_proven)
        elif "password" in fields:
            session_check.lock(administrator)
        managed_everything = administrator.manages_everything
        before = {name: getattr(administrator, name) for name in columns}
        changes_tenants = managed is not None and set(administrator.tenants.all()) != set(managed)
        records.change(
            administrator,
            columns,
            event=Event.ADMINISTRATOR_UPDATE,
            expected=expected,
            changed_fields=sorted(fields),
            changes_more=changes_tenants,
            **_change_facts(administrator, before, columns, managed),
        )
        if managed is not None and changes_tenants:
            administrator.tenants.set(managed)
        if is_replaced:
            replaced_passwords.end_earlier_access(administrator)
        elif managed_everything and not administrator.manages_everything:
            replaced_passwords.revoke_invitations(administrator)


def _build_columns(administrator: Administrator, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the new values of the columns that these fields change.

    Raises:
        Invalid: a field breaks a rule.

    """
    columns: dict[str, Any] = {name: fields[name] for name in rights.COLUMNS if name in fields}
    if "email" in fields:
        columns["email"] = identifiers.clean_email(fields["email"]) if fields["email"] else ""
        if columns["email"] != administrator.email:
            columns["proven_email"] = None  # also if the earlier email is set again later
    if "phone" in fields:
        columns["phone"] = identifiers.clean_phone(fields["phone"]) if fields["phone"] else ""
    if "password" in fields:
        own = (administrator.username, administrator.email, columns.get("email", ""))
        columns["password"] = password_rules.hash_new(fields["password"], *own)
    return columns


def _change_facts(
    administrator: Administrator,
    before: dict[str, Any],
    columns: dict[str, Any],
    managed: list[Tenant] | None,
) -> dict[str, Any]:
    """Return the audit facts of a change: the username, and the old and new values."""
    if managed is not None:
        slugs = administrator.tenants.order_by("slug").values_list("slug", flat=True)
        before = before | {"tenants": list(slugs)}
        columns = columns | {"tenants": sorted(tenant.slug for tenant in managed)}
    return {"username": administrator.username, **audit_facts.change_facts(before, columns)}


@transaction.atomic
def remove(
    administrator: Administrator,
    *,
    expected: frozenset[int] | None = None,
    by: Administrator | None = None,
    is_proven: bool = False,
) -> None:
    """Delete an administrator. Tokens and sessions of the administrator end at once.

    ``is_proven`` says that ``by`` has just entered password and code. Otherwise a recent sign-in is needed.

    Raises:
        proof.SignInTooOld: ``by`` has to sign in again.
        rights.LastSuperuser: there is no other administrator of every tenant.
        records.Stale: the administrator was changed since the caller read it.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    if by is not None and not is_proven:
        proof.check_recent(by)
    others = rights.lock(administrator, by=by)
    if administrator.manages_everything and not others:
        raise rights.LastSuperuser
    records.remove(
        administrator,
        event=Event.ADMINISTRATOR_DELETE,
        expected=expected,
        username=administrator.username,
    )


@transaction.atomic
def unlink(administrator: Administrator, *, by: Administrator) -> None:
    """Unlink another administrator's account of the provider.

    Raises:
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    rights.lock(administrator, by=by)
    single_sign_on.unlink(administrator)


def find_tenants(slugs: list[str]) -> list[Tenant]:
    """Return the tenants with these slugs.

    Raises:
        Invalid: a slug is unknown.

    """
    tenants = list(Tenant.objects.filter(slug__in=slugs))
    if unknown := sorted(set(slugs) - {tenant.slug for tenant in tenants}):
        rule = fill(gettext_noop("unknown: %(names)s"), names=unknown[:20])
        raise Invalid("tenants", rule, code="unknown")
    return tenants

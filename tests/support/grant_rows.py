"""Rows of grants, written without a sign-in. Call the functions in an active tenant."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from database import ids
from identity.organizations.models import Organization
from identity.resources.models import Resource
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import families
from oidc.grants.code_sign_ins import CodeSignIn
from oidc.grants.models import AuthorizationCode, RefreshFamily

SOON = timedelta(minutes=10)


def new_api(name: str = "Payroll") -> Resource:
    return Resource.objects.create(name=name, indicator=f"https://{name.lower()}.example")


def new_organization(name: str = "Hospital") -> Organization:
    return Organization.objects.create(name=name)


def new_session(user: User) -> Session:
    return sessions.start(user, amr=["pwd"])[0]


def new_code(application: Application, session: Session, **fields: Any) -> AuthorizationCode:
    """A code that is live and not redeemed, unless the fields say otherwise."""
    given: dict[str, Any] = {"expires_at": datetime.now(UTC) + SOON, "code_hash": secrets.token_hex(16)}
    given |= {"redirect_uri": "https://rp.example/callback", "scope": "openid"}
    return AuthorizationCode.objects.create(
        application=application, user=session.user, session=session, **given | fields
    )


def new_family(application: Application, session: Session, **fields: Any) -> RefreshFamily:
    """A live refresh family, unless the fields say otherwise."""
    given: dict[str, Any] = {"scope": "openid offline_access", "claims": {}, "consent_id": None}
    options = {name: fields.pop(name, value) for name, value in given.items()}
    family = families.new_family(
        family_id=ids.new(),
        application=application,
        sign_in=CodeSignIn.of_session(session),
        **options,
    )
    now = datetime.now(UTC)
    times = {"rotated_at": now, "idle_expires_at": now + SOON, "expires_at": now + SOON}
    for name, value in (times | fields).items():
        setattr(family, name, value)
    family.save(force_insert=True)
    return family

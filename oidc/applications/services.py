"""Registering applications and their secrets."""

import secrets
from typing import Any, Final

from django.db import transaction

from audit.events import Event
from identity.core import records
from identity.core.errors import Invalid
from identity.encryption import keyring
from oidc.applications import redirect_uris as uris
from oidc.applications.models import PUBLIC_TYPES, Application, ApplicationOrigin

_PURPOSE: Final = "client secrets"

_MACHINE_GRANTS: Final = ["client_credentials"]
_URIS: Final = ("redirect_uris", "post_logout_redirect_uris")
_BROWSER_GRANTS: Final = ["authorization_code", "refresh_token"]


def register(  # noqa: PLR0913 - one parameter a field
    *,
    name: str,
    type: Application.Type | str,  # noqa: A002 - the interface's name
    description: str = "",
    redirect_uris: list[str] | None = None,
    post_logout_redirect_uris: list[str] | None = None,
    grant_types: list[str] | None = None,
    is_third_party: bool = False,
    require_pkce: bool | None = None,
) -> tuple[Application, str]:
    """Register an application and return it with its secret, which cannot be read again.

    Raises:
        Invalid: a URI, a grant type or ``require_pkce`` is not allowed for this type.

    """
    application = Application(
        name=name,
        type=Application.Type(type),
        description=description,
        redirect_uris=redirect_uris or [],
        post_logout_redirect_uris=post_logout_redirect_uris or [],
        grant_types=validate_grant_types(grant_types, type),
        is_third_party=is_third_party,
        require_pkce=validate_require_pkce(require_pkce, type),
    )
    _check_uris(application, *_URIS)
    secret = _new_secret(application)
    with transaction.atomic():
        records.create(application, event=Event.APPLICATION_CREATE, name=name, type=application.type)
        _replace_origins(application)
    return application, secret


def validate_grant_types(grant_types: list[str] | None, application_type: str) -> list[str]:
    """Return the requested grant types, or the defaults of the application's type.

    Raises:
        Invalid: a grant type is not allowed for this type, or its main grant type is missing.

    """
    possible = _MACHINE_GRANTS if application_type == Application.Type.MACHINE else _BROWSER_GRANTS
    if grant_types is None:
        return list(possible)
    not_allowed = [grant for grant in grant_types if grant not in possible]
    if not_allowed or possible[0] not in grant_types:
        raise Invalid(
            "grant_types",
            f"must be of {', '.join(possible)} for {application_type}, {possible[0]} included",
        )
    return [grant for grant in possible if grant in grant_types]


def validate_require_pkce(require_pkce: bool | None, application_type: str) -> bool:  # noqa: FBT001 - the field
    """Return the requested ``require_pkce``, or the default of the application's type.

    Raises:
        Invalid: the type does not allow this value.

    """
    is_public = application_type in PUBLIC_TYPES
    if require_pkce is None:
        return is_public
    if is_public and not require_pkce:
        raise Invalid("require_pkce", f"must be true for {application_type}")
    if require_pkce and application_type == Application.Type.MACHINE:
        raise Invalid("require_pkce", "must be false for MachineToMachine, which has no authorization codes")
    return require_pkce


def _check_uris(application: Application, *fields: str) -> None:
    for field in fields:
        registered: list[str] = getattr(application, field)
        if registered and application.type == Application.Type.MACHINE:
            raise Invalid(field, "a MachineToMachine application has none")
        for uri in registered:
            uris.validate(uri, application.type, field)


def _new_secret(application: Application) -> str:
    secret = secrets.token_urlsafe(32)
    application.secret_digest = keyring.digest(secret, purpose=_PURPOSE)
    return secret


def _replace_origins(application: Application) -> None:
    origins = {uris.get_origin(uri) for uri in application.redirect_uris}
    application.origins.all().delete()
    ApplicationOrigin.objects.bulk_create(
        ApplicationOrigin(application=application, origin=origin) for origin in origins if origin
    )


@transaction.atomic
def change(
    application: Application,
    fields: dict[str, Any],
    *,
    expected: frozenset[int] | None = None,
    changed_fields: list[str] | None = None,
) -> None:
    """Change an application.

    Raises:
        Invalid: a URI, a grant type or ``require_pkce`` is not allowed for its type.
        records.Stale: it was changed since the caller read it.

    """
    if "grant_types" in fields:
        fields = fields | {"grant_types": validate_grant_types(fields["grant_types"], application.type)}
    if "require_pkce" in fields:
        fields = fields | {"require_pkce": validate_require_pkce(fields["require_pkce"], application.type)}
    before = {name: getattr(application, name) for name in fields}
    for name, value in fields.items():
        setattr(application, name, value)
    # A URI that an earlier release accepted stays until the field is changed; `doctor` reports it.
    _check_uris(application, *(field for field in _URIS if field in fields))
    records.change(
        application,
        fields,
        event=Event.APPLICATION_UPDATE,
        expected=expected,
        changed_fields=changed_fields,
        old_values=before,
    )
    if "redirect_uris" in fields:
        _replace_origins(application)


def rotate_secret(application: Application) -> str:
    """Replace the secret of an application and return the new one. The old one stops working at once."""
    secret = _new_secret(application)
    records.change(
        application,
        {"secret_digest": application.secret_digest},
        event=Event.APPLICATION_UPDATE,
        changed_fields=["client_secret"],
    )
    return secret


def is_valid_secret(application: Application, secret: str) -> bool:
    """Compare a presented secret with the stored digest, in constant time.

    A digest made with an older key of ENCRYPTION_KEYS is renewed, so that the key can be removed.
    """
    stored = application.secret_digest
    is_valid = keyring.matches(secret, stored, purpose=_PURPOSE)
    if is_valid and not keyring.is_current(stored):
        renewed = keyring.digest(secret, purpose=_PURPOSE)
        Application.objects.filter(pk=application.pk, secret_digest=stored).update(secret_digest=renewed)
    return is_valid


def remove(application: Application, *, expected: frozenset[int] | None = None) -> None:
    """Delete an application. Its id, its secret and all its tokens stop working at once."""
    records.remove(application, event=Event.APPLICATION_DELETE, expected=expected, name=application.name)

"""Registering applications and their secrets."""

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit.events import Event
from identity.core import branding, proof, records
from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from oidc.applications import acr_rules, allowed_lists, client_secrets, lifetimes, management_access
from oidc.applications import redirect_uris as uris
from oidc.applications.models import PUBLIC_TYPES, Application, ApplicationOrigin
from oidc.keys import services as keys

_ALGORITHMS: Final = ("id_token_signed_response_alg", "userinfo_signed_response_alg")
_MACHINE_GRANTS: Final = ["client_credentials"]
URIS: Final = ("redirect_uris", "post_logout_redirect_uris")
NO_URIS: Final = gettext_noop("a MachineToMachine application has none")
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
    id_token_signed_response_alg: str = "",
    userinfo_signed_response_alg: str = "",
    custom_claims: list[dict[str, Any]] | None = None,
    **further: Any,
) -> tuple[Application, str]:
    """Register an application and return it with its secret, which cannot be read again.

    ``further`` are the branding, and the members of ``allowed_lists``, ``lifetimes``,
    ``acr_rules`` and ``client_metadata``.

    Raises:
        Invalid: a URI, a grant type, ``require_pkce``, a list or a lifetime is not allowed for this type.
        generation.UpgradeInProgress: an algorithm has no key, and a node of an older release serves.

    """
    lifetimes.check(further, type)
    acr_rules.check(further, type)
    application = Application(
        name=name,
        type=Application.Type(type),
        description=description,
        redirect_uris=redirect_uris or [],
        post_logout_redirect_uris=post_logout_redirect_uris or [],
        grant_types=validate_grant_types(grant_types, type),
        is_third_party=is_third_party,
        require_pkce=validate_require_pkce(require_pkce, type),
        id_token_signed_response_alg=id_token_signed_response_alg,
        userinfo_signed_response_alg=userinfo_signed_response_alg,
        custom_claims=custom_claims or [],
        **allowed_lists.without(further),
    )
    _check_uris(application, *URIS)
    _ensure_keys({name: getattr(application, name) for name in _ALGORITHMS})
    secret, application.secret_digest = client_secrets.new_secret()
    with transaction.atomic():
        acr_rules.hold(further)
        _hold_keys({name: getattr(application, name) for name in _ALGORITHMS})
        for column, seconds in lifetimes.new_effective(further).items():
            setattr(application, column, seconds)
        allowed = allowed_lists.resolve(application, further)
        application.is_restricted = allowed.is_restricted
        application.branding = branding.store(application, further.get("branding", {}))
        facts = {"name": name, "type": application.type, **allowed.facts}
        records.create(application, event=Event.APPLICATION_CREATE, **facts)
        _replace_origins(application)
        allowed_lists.save(application, allowed)
    return application, secret


def _ensure_keys(fields: Mapping[str, Any]) -> None:
    """Create the keys of the algorithms that an application names, before any transaction."""
    for algorithm in {fields[name] for name in _ALGORITHMS if fields.get(name)}:
        keys.ensure(algorithm)


def _hold_keys(fields: Mapping[str, Any]) -> None:
    """Keep the algorithms that an application names from being retired until the transaction ends."""
    for algorithm in {fields[name] for name in _ALGORITHMS if fields.get(name)}:
        keys.hold(algorithm)


def get_possible_grant_types(application_type: str) -> list[str]:
    """Return the grant types that applications of a type may use, the required one first."""
    return _MACHINE_GRANTS if application_type == Application.Type.MACHINE else _BROWSER_GRANTS


def validate_grant_types(grant_types: list[str] | None, application_type: str) -> list[str]:
    """Return the requested grant types, or the defaults of the application's type.

    Raises:
        Invalid: a grant type is not allowed for this type, or its main grant type is missing.

    """
    possible = get_possible_grant_types(application_type)
    if grant_types is None:
        return list(possible)
    not_allowed = [grant for grant in grant_types if grant not in possible]
    if not_allowed or possible[0] not in grant_types:
        rule = fill(
            gettext_noop("must be of %(possible)s for %(type)s, %(required)s included"),
            possible=possible,
            type=application_type,
            required=possible[0],
        )
        raise Invalid("grant_types", rule, code="invalid_choice", allowed=possible)
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
        rule = fill(gettext_noop("must be true for %(type)s"), type=application_type)
        raise Invalid("require_pkce", rule, code="conflict")
    if require_pkce and application_type == Application.Type.MACHINE:
        rule = gettext_noop("must be false for MachineToMachine, which has no authorization codes")
        raise Invalid("require_pkce", rule, code="conflict")
    return require_pkce


def _check_uris(application: Application, *fields: str) -> None:
    for field in fields:
        registered: list[str] = getattr(application, field)
        if registered and application.type == Application.Type.MACHINE:
            raise Invalid(field, NO_URIS, code="conflict")
        for uri in registered:
            uris.validate(uri, application.type, field)


def _replace_origins(application: Application) -> None:
    origins = {uris.get_origin(uri) for uri in application.redirect_uris}
    application.origins.all().delete()
    ApplicationOrigin.objects.bulk_create(
        ApplicationOrigin(application=application, origin=origin) for origin in origins if origin
    )


def change(
    application: Application,
    fields: dict[str, Any],
    *,
    expected: frozenset[int] | None = None,
    changed_fields: list[str] | None = None,
    is_proven: bool,
) -> None:
    """Change an application. First, the keys of the algorithms that it names are created.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        proof.TokenTooOld: ``required_acr`` would be replaced or removed, and ``is_proven`` is false.
        Invalid: a URI, a grant type, ``require_pkce``, a list or a lifetime is not allowed for its type.
        generation.UpgradeInProgress: an algorithm has no key, and a node of an older release serves.
        records.Stale: the application was changed since the caller read it.

    """
    _ensure_keys(fields)
    _change(application, fields, expected, changed_fields, is_proven=is_proven)


@transaction.atomic
def _change(
    application: Application,
    fields: dict[str, Any],
    expected: frozenset[int] | None,
    changed_fields: list[str] | None,
    *,
    is_proven: bool,
) -> None:
    lifetimes.check(fields, application.type)
    acr_rules.check(fields, application.type)
    acr_rules.hold(fields)
    _hold_keys(fields)
    changed_fields = changed_fields or sorted(fields)
    fields = fields | lifetimes.change(application, fields)
    allowed = allowed_lists.resolve(application, fields)
    if allowed.sent:
        fields = allowed_lists.without(fields) | {"is_restricted": allowed.is_restricted}
    if "grant_types" in fields:
        fields = fields | {"grant_types": validate_grant_types(fields["grant_types"], application.type)}
    if "require_pkce" in fields:
        fields = fields | {"require_pkce": validate_require_pkce(fields["require_pkce"], application.type)}
    # These lock the application. What locks the tenant comes before, as in other transactions.
    fields = branding.change(application, fields, expected)
    proof.check_required_of_sign_ins(application, "required_acr", fields, expected, is_proven=is_proven)
    before = {name: getattr(application, name) for name in fields}
    for name, value in fields.items():
        setattr(application, name, value)
    # A URI that an earlier release accepted stays until the field is changed; `doctor` reports it.
    _check_uris(application, *(field for field in URIS if field in fields))
    is_changed = records.change(
        application,
        fields,
        event=Event.APPLICATION_UPDATE,
        expected=expected,
        changed_fields=changed_fields,
        old_values=before,
        changes_more=allowed_lists.are_changed(application, allowed),
        **allowed.facts,
    )
    if is_changed:
        allowed_lists.save(application, allowed)
    if is_changed and "redirect_uris" in fields:
        _replace_origins(application)


@transaction.atomic
def rotate_secret(application: Application, *, is_proven: bool) -> str:
    """Replace all secrets of an application by a new one and return it. The others stop working at once.

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: the application can use the management API, and ``is_proven`` is false.

    """
    management_access.check_secret(application, is_proven=is_proven)
    secret, digest = client_secrets.new_secret()
    columns = {"secret_digest": digest, "secret_created_at": timezone.now(), "has_further_secrets": False}
    records.change(application, columns, event=Event.APPLICATION_UPDATE, changed_fields=["client_secret"])
    client_secrets.remove_further(application)
    return secret


def remove(application: Application, *, expected: frozenset[int] | None = None) -> None:
    """Delete an application. Its id, its secret and all its tokens stop working at once."""
    records.remove(application, event=Event.APPLICATION_DELETE, expected=expected, name=application.name)

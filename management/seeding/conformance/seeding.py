"""The creation of the clients and the user that the conformance suite uses. Safe to repeat."""

import re
import secrets
import zlib
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.module_loading import import_string

from identity.core import tenancy
from identity.core.algorithms import Algorithm
from identity.core.errors import Invalid, ServiceError
from identity.core.proof import NO_ADMINISTRATOR
from identity.core.tenancy import ActiveTenant
from identity.factors.levels import ACR, Level
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users import credentials
from identity.users import services as users
from identity.users.identifiers import ADDRESS_KINDS
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.settings import services as oidc_settings

_ALIAS: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")
_NAME: Final = "OpenID conformance suite"
# The values that the suite requests.
_ACR_ALIASES: Final = [
    {"value": "1", "level": ACR[Level.ONE]},
    {"value": "2", "level": ACR[Level.TWO]},
]
_MARK: Final = {"made_by": "seed_conformance"}
_PROFILE: Final = {
    "given_name": "Ada",
    "family_name": "Conformance",
    "middle_name": "Augusta",
    "nickname": "Ada",
    "profile": "https://people.example/ada",
    "website": "https://ada.example",
    "gender": "female",
    "birthdate": "1815-12-10",
    "zoneinfo": "Europe/London",
    "locale": "en-GB",
    "address": {
        "formatted": "12 St James's Square\nLondon SW1Y 4JH\nUnited Kingdom",
        "street_address": "12 St James's Square",
        "locality": "London",
        "region": "England",
        "postal_code": "SW1Y 4JH",
        "country": "United Kingdom",
    },
}


@dataclass(frozen=True, slots=True)
class Client:
    """A client of the suite; ``secret`` is None if it was created earlier."""

    client_id: str
    secret: str | None


@dataclass(frozen=True, slots=True)
class SuiteData:
    """The data for the suite; ``password`` is None if it was created earlier."""

    issuer: str
    alias: str
    suite: str
    clients: tuple[Client, Client]
    username: str
    password: str | None

    @property
    def is_complete(self) -> bool:
        """Whether this run created all secrets, so that the configuration is complete."""
        return None not in (self.password, *(client.secret for client in self.clients))


class NotHttps(ServiceError):
    """BASE_URL is not https, which the suite requires of the issuer and the endpoints."""

    reason = "not_https"
    message = (
        "BASE_URL is not https, which the suite requires: "
        "put a server that terminates TLS in front, and set BASE_URL to its public address"
    )


class TenantInUse(ServiceError):
    """The tenant has users or applications that this command did not create."""

    reason = "tenant_in_use"

    def __init__(self, slug: str) -> None:
        super().__init__(
            f"the tenant {slug} has other users or applications, and the suite's public results contain the "
            "credentials of its user: choose a separate tenant, or use --in-use"
        )


def prepare(*, suite: str, alias: str, slug: str, rotate: bool = False, in_use: bool = False) -> SuiteData:
    """Create or correct the tenant, the two clients and the user of an alias.

    ``rotate`` replaces existing secrets. ``in_use`` allows a tenant with other users or applications.

    Raises:
        NotHttps: BASE_URL is not https.
        generation.UpgradeInProgress: the tenant has no RS256 key, and a node of an older release serves.
        TenantInUse: the tenant has other users or applications.
        Invalid: the suite's URL, the alias or the slug breaks a rule.

    """
    if not settings.BASE_URL.startswith("https:"):
        raise NotHttps
    suite = _validate_suite(suite)
    if not _ALIAS.fullmatch(alias):
        raise Invalid("alias", "must be 1 to 64 letters, digits, dashes or underscores")
    tenant = _get_or_create_tenant(slug)
    with tenancy.using(tenant):
        if not in_use and _has_other_rows():
            raise TenantInUse(slug)
        for path in settings.CONFORMANCE_DATA:
            import_string(path)()
        _add_acr_aliases()
        password = _save_user(alias, rotate=rotate)
        first, second = (
            _save_client(f"{_NAME}, {alias}: {name}", f"{suite}/test/a/{alias}", rotate=rotate)
            for name in ("client", "client2")
        )
        return SuiteData(tenant.issuer, alias, suite, (first, second), _username(alias), password)


def _validate_suite(suite: str) -> str:
    parts = urlsplit(suite)
    if parts.scheme != "https" or not parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise Invalid("suite", "must be an https URL without a path")
    return f"https://{parts.netloc}"


def _get_or_create_tenant(slug: str) -> ActiveTenant:
    with tenancy.using(tenancy.EVERYWHERE):
        known = Tenant.objects.filter(slug=slug).first()
        return (known or tenants.provision(slug=slug, name=_NAME)).to_active()


def _has_other_rows() -> bool:
    ours = User.objects.filter(custom_data__made_by=_MARK["made_by"])
    return (
        User.objects.exclude(pk__in=ours.values("pk")).exists()
        or Application.objects.exclude(name__startswith=f"{_NAME}, ").exists()
    )


def _add_acr_aliases() -> None:
    """Add the values of ``acr`` that the suite requests as aliases."""
    aliases = oidc_settings.current().acr_aliases
    missing = [alias for alias in _ACR_ALIASES if alias not in aliases]
    if missing:
        values = {alias["value"] for alias in missing}
        kept = [alias for alias in aliases if alias["value"] not in values]
        oidc_settings.change({"acr_aliases": [*kept, *missing]}, is_proven=NO_ADMINISTRATOR)


def _save_client(name: str, base: str, *, rotate: bool) -> Client:
    fields: dict[str, Any] = {
        "redirect_uris": [f"{base}/callback"],
        "post_logout_redirect_uris": [f"{base}/post_logout_redirect"],
        "grant_types": ["authorization_code", "refresh_token"],
        "is_third_party": False,
        # What the suite expects of a client that names no algorithm (OpenID Connect Registration section 2).
        "id_token_signed_response_alg": Algorithm.RS256.value,
    }
    known = Application.objects.filter(name=name, type=Application.Type.TRADITIONAL).first()
    if known is None:
        client, secret = applications.register(
            name=name, type=Application.Type.TRADITIONAL, description="Created by seed_conformance.", **fields
        )
        return Client(client.client_id, secret)
    if changes := _changed_fields(known, fields):
        applications.change(known, changes, is_proven=NO_ADMINISTRATOR)
    new_secret = applications.rotate_secret(known, is_proven=NO_ADMINISTRATOR) if rotate else None
    return Client(known.client_id, new_secret)


def _username(alias: str) -> str:
    return f"conformance-{alias}".lower()


def _save_user(alias: str, *, rotate: bool) -> str | None:
    """Create or correct the user, and return the password if it is new."""
    username = _username(alias)
    # The suite warns about missing claims, so every claim has a value.
    fields: dict[str, Any] = {
        "name": "Ada Conformance",
        "email": f"{username}@example.com",
        # Numbers with 555 are fictional in North America; the rest is derived from the alias.
        "phone": f"+1555{zlib.crc32(username.encode()) % 10_000_000:07d}",
        "avatar": f"{settings.BASE_URL}{settings.STATIC_URL}gatehouse/mark.svg",
        "profile": _PROFILE,
        "custom_data": _MARK,
    }
    known = User.objects.filter(username_key=username).first()
    if known is not None and known.custom_data.get("made_by") != _MARK["made_by"]:
        raise Invalid("alias", f"another user has the username {username}: choose another alias")
    password = secrets.token_urlsafe(18) if known is None or rotate else None
    if known is None:
        known = users.create(username=username, password=password or "", **fields)
    else:
        if changes := _changed_fields(known, fields):
            users.change(known, changes, is_proven=NO_ADMINISTRATOR)
        if password is not None:
            credentials.store_password(known, credentials.hash_new_password(password))
    known.refresh_from_db()
    for kind in ADDRESS_KINDS:
        if not getattr(known, f"{kind}_verified"):
            users.change(known, {kind: fields[kind]}, proven=kind, is_proven=NO_ADMINISTRATOR)
    return password


def _changed_fields(row: User | Application, fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if getattr(row, name) != value}

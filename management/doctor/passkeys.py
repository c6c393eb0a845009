"""Checks of whether browsers offer passkeys at BASE_URL, and of passkeys of another address."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check
from identity.factors import relying_party, webauthn
from identity.factors.models import Passkey
from management.administrators.models import AdministratorPasskey


@doctor_check
def passkeys() -> Iterator[CheckMessage]:
    """Report an address or a relying party ID for which browsers have no passkeys."""
    if relying_party.is_ip_address():
        yield Info(
            f"browsers offer no passkeys: the host of BASE_URL, {settings.BASE_URL}, is an IP address",
            hint="set BASE_URL to an address with a domain name if users shall have passkeys",
            id="passkeys.I001",
        )
    elif not relying_party.is_secure():
        yield Info(
            f"browsers offer no passkeys: BASE_URL, {settings.BASE_URL}, is neither https nor localhost",
            hint="set BASE_URL to an https address if users shall have passkeys",
            id="passkeys.I002",
        )
    elif not webauthn.is_usable_rp_id(settings.WEBAUTHN_RP_ID, settings.BASE_URL):
        yield Error(
            f"browsers refuse passkeys: WEBAUTHN_RP_ID, {settings.WEBAUTHN_RP_ID}, is a public suffix",
            hint="set WEBAUTHN_RP_ID to the host of BASE_URL or to the domain that you registered",
            id="passkeys.E003",
        )


@doctor_check
def passkeys_of_another_address() -> Iterator[CheckMessage]:
    """Report how many passkeys no browser uses any more, because the relying party ID has changed."""
    rp_id = settings.WEBAUTHN_RP_ID
    users = Passkey.objects.exclude(rp_id=rp_id).count()
    administrators = AdministratorPasskey.objects.exclude(rp_id=rp_id).count()
    if users or administrators:
        yield Warning(
            f"passkeys that were made for another relying party ID than {rp_id} and do not work any more: "
            f"{users} of users, {administrators} of administrators",
            hint="set WEBAUTHN_RP_ID to the earlier ID if it is the host of BASE_URL or a domain above it; "
            "otherwise their owners create new ones",
            id="passkeys.W004",
        )

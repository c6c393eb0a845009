"""Passkeys: switching them on in a tenant, a device, and the two requests of a ceremony."""

from typing import Any

import httpx
from django.conf import settings

from identity.factors import ceremonies, ceremony_options, credential_json, passkeys
from identity.factors.ceremony_options import Account
from identity.factors.challenges import Binding, Ceremony
from identity.factors.models import Passkey
from identity.users.models import User
from interaction.experience import services as experiences
from tests.support.cast import Browser, World
from tests.support.passkey_device import Device

OPTIONS = "/api/interaction/passkey/options"
VERIFY = "/api/interaction/passkey/verify"


def switch_on(world: World, *factors: str, sign_in: bool = True, **mfa: Any) -> World:
    """Let people of a tenant sign in with passkeys, and use these second factors."""
    with world.active():
        experiences.change(
            {"passkey_sign_in": {"enabled": sign_in}, "mfa": {"factors": list(factors), **mfa}},
            is_proven=True,
        )
    return world


def device(**facts: Any) -> Device:
    return Device(settings.BASE_URL, **facts)


def security_key() -> Device:
    """Return a security key without a PIN, which has a signature counter."""
    return device(verifies=False, flags=0, step=1)


def enrol(
    world: World, user: User, new: Device, ceremony: Ceremony = Ceremony.SET_UP, **wrong: Any
) -> Passkey:
    """Give a user a passkey, as if it had been created long ago."""
    with world.active():
        binding = Binding(ceremony, "a" * 64)
        options = ceremony_options.creation_options(binding, Account(user.pk.bytes, "u", ""), "Acme", ())
        document = new.create(options, **wrong)
        checked = ceremonies.verify_registration(credential_json.read_registration(document), binding)
        row = passkeys.add(user, checked)
        User.objects.filter(pk=user.pk).update(two_step=ceremony is Ceremony.SET_UP_SECURITY_KEY)
        user.refresh_from_db()
    return row


def ask(browser: Browser, ceremony: str, **fields: Any) -> dict[str, Any]:
    """Return the options of a ceremony."""
    answer = browser.post(OPTIONS, json={"ceremony": ceremony} | fields)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["result"]["public_key"])


def send(browser: Browser, ceremony: str, credential: object, **fields: Any) -> httpx.Response:
    return browser.post(VERIFY, json={"ceremony": ceremony, "credential": credential} | fields)


def use(browser: Browser, used: Device, ceremony: str = "sign_in", **wrong: Any) -> httpx.Response:
    """Use a passkey in a ceremony, right or wrong."""
    return send(browser, ceremony, used.get(ask(browser, ceremony), **wrong))


def create(browser: Browser, new: Device, ceremony: str = "set_up", **fields: Any) -> httpx.Response:
    """Create a passkey."""
    return send(browser, ceremony, new.create(ask(browser, ceremony)), **fields)

"""A user's ways to sign in: passwords, codes, linked accounts and passkeys, and what prevents each."""

from collections.abc import Iterator
from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.factors import passkeys
from identity.operator_kit.panels import Link, link
from identity.users import ownership
from identity.users.factor_bits import FIRST_PASSKEY
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.models import User
from identity.users.sign_in_ways import SignInWay
from interaction.connectors import delivery
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys import codes
from interaction.social import usable_accounts
from interaction.verification import recipients
from interaction.verification.models import Purpose

_WITH_PASSWORD: Final = {
    Kind.USERNAME: _("Username and password"),
    Kind.EMAIL: _("Email and password"),
    Kind.PHONE: _("Phone and password"),
}
_NOT_ALLOWED: Final = _("The sign-in experience does not allow it.")


def get_ways(user: User) -> list[SignInWay]:
    """Return the ways of a user, without those for which the user has no identifier or linked account."""
    experience = experiences.current()
    return [
        *_passwords(user, experience),
        *_codes(user, experience),
        *_linked_accounts(user),
        *_passkeys(user, experience),
    ]


def _passwords(user: User, experience: SignInExperience) -> Iterator[SignInWay]:
    for kind in Kind:
        name = str(_WITH_PASSWORD[kind])
        if not getattr(user, kind):
            continue
        if not experience.can_use_password(kind):
            yield SignInWay(name, str(_NOT_ALLOWED), link=_link_to(experience))
        elif not user.password:
            yield SignInWay(name, gettext("The user has no password."), operation="password")
        else:
            yield SignInWay(name, needs_password=True)


def _codes(user: User, experience: SignInExperience) -> Iterator[SignInWay]:
    sent = codes.get_offered_kinds(experience)[Purpose.SIGN_IN]
    for kind in ADDRESS_KINDS:
        name = gettext("Code by email") if kind is Kind.EMAIL else gettext("Code by text message")
        # A way that the tenant does not use is left out: most tenants send no text messages.
        if not getattr(user, kind) or not experience.can_use_code(kind):
            continue
        if kind not in sent:
            yield SignInWay(name, gettext("No enabled connector can send codes."))
        elif ownership.find_by_proof(kind, getattr(user, f"{kind}_key")) is None:
            problem = (
                gettext("The email is not verified.")
                if kind is Kind.EMAIL
                else gettext("The phone is not verified.")
            )
            yield SignInWay(name, problem, operation="verify")
        elif delivery.uses_outbox(recipients.channel_of(kind)):
            yield SignInWay(gettext("%(way)s, in the outbox folder") % {"way": name})
        else:
            yield SignInWay(name)


def _linked_accounts(user: User) -> Iterator[SignInWay]:
    for identity, can_sign_in in usable_accounts.find_by_user(user):
        problem = "" if can_sign_in else gettext("The provider has no enabled connector.")
        yield SignInWay(identity.provider_name, problem, connector_id=identity.connector_id)


def _passkeys(user: User, experience: SignInExperience) -> Iterator[SignInWay]:
    # A passkey that was created for another address is left out.
    if not user.factors & FIRST_PASSKEY or not passkeys.filter_first_factors(passkeys.usable(user)).exists():
        return
    if experience.has_passkey_sign_in:
        yield SignInWay(gettext("Passkey"))
    else:
        yield SignInWay(gettext("Passkey"), str(_NOT_ALLOWED), link=_link_to(experience))


def _link_to(experience: SignInExperience) -> Link:
    return link(experience, gettext("Show sign-in experience"))

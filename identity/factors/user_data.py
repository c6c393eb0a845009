"""What happens to factors when an account gets a new owner."""

from typing import Final

from django.db.models import Exists, OuterRef

from identity.factors import services
from identity.factors.models import (
    Authenticator,
    BackupCode,
    KnownBrowser,
    Passkey,
    RecoveryGrant,
    SignInCountry,
)
from identity.users.models import User
from identity.users.user_data import UserData


def _end_factors(user: User) -> None:
    """Delete the factors of a user who has any: most users who get a new owner have none."""
    if user.factors:
        for model in (Passkey, Authenticator, BackupCode):
            model.objects.filter(user=user).delete()


def _end_browsers(user: User) -> None:
    KnownBrowser.objects.filter(user=user).delete()


def _end_countries(user: User) -> None:
    SignInCountry.objects.filter(user=user).delete()


def _end_grants(user: User) -> None:
    RecoveryGrant.objects.filter(user=user).delete()


USER_DATA: Final = [
    UserData(
        model="factors.Passkey",
        reason="the previous owner could sign in with it",
        end=_end_factors,
        remove_ways=services.remove_passkeys,
        evidence=lambda: Exists(Passkey.objects.filter(user=OuterRef("pk"))),
    ),
    UserData(
        model="factors.Authenticator",
        reason="it ends with the passkeys: the new owner does not have it and could not sign in",
        evidence=lambda: Exists(Authenticator.objects.filter(user=OuterRef("pk"))),
    ),
    UserData(
        model="factors.BackupCode", reason="it ends with the passkeys: the previous owner has the codes"
    ),
    UserData(model="factors.KnownBrowser", reason="the browser is the previous owner's", end=_end_browsers),
    UserData(
        model="factors.SignInCountry",
        reason="the previous owner signed in from there",
        end=_end_countries,
    ),
    UserData(
        model="factors.RecoveryGrant",
        reason="an administrator made it for the previous owner",
        end=_end_grants,
    ),
]

"""The grants that end when an account changes its owner."""

from typing import Final

from django.db.models.functions import Now

from identity.users.models import User
from identity.users.user_data import UserData
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily


def _end_codes(user: User) -> None:
    # A consumed code is kept, so that its second use is recognised.
    AuthorizationCode.objects.filter(user=user, consumed_at=None).delete()


def _end_families(user: User) -> None:
    # In the order of their ids, in which ``revocations`` locks them too.
    locked = RefreshFamily.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
    RefreshFamily.objects.filter(pk__in=locked.filter(user=user, ended_at=None).values("pk")).update(
        ended_at=Now(), end_reason="owner_changed"
    )


def _end_consents(user: User) -> None:
    Consent.objects.filter(user=user).delete()


USER_DATA: Final = [
    UserData(
        model="grants.AuthorizationCode",
        reason="a code that was issued before would sign an application in",
        end=_end_codes,
    ),
    UserData(
        model="grants.RefreshFamily",
        reason="an application connected before would keep its access",
        end=_end_families,
    ),
    UserData(
        model="grants.Consent",
        reason="the owner has not agreed to anything yet",
        end=_end_consents,
    ),
]

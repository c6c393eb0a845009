"""What happens to factors when an account gets a new owner."""

from typing import Final

from django.db.models import Exists, OuterRef

from identity.core.models import TenantModel
from identity.factors.models import Authenticator, BackupCode, KnownBrowser, Passkey, RecoveryGrant
from identity.users.models import User
from identity.users.user_data import UserData


def _declare(model: type[TenantModel], reason: str, *, is_evidence: bool = False) -> UserData:
    def end(user: User) -> None:
        model.objects.filter(user=user).delete()

    def evidence() -> Exists:
        return Exists(model.objects.filter(user=OuterRef("pk")))

    return UserData(
        model=model._meta.label, reason=reason, end=end, evidence=evidence if is_evidence else None
    )


USER_DATA: Final = [
    _declare(Passkey, "the previous owner could sign in with it", is_evidence=True),
    _declare(Authenticator, "the new owner does not have it and could not sign in", is_evidence=True),
    _declare(BackupCode, "the previous owner has the codes"),
    _declare(KnownBrowser, "the browser is the previous owner's"),
    _declare(RecoveryGrant, "an administrator made it for the previous owner"),
]

"""System checks of signing keys, which ``manage.py doctor`` runs."""

from collections.abc import Iterator

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check, join_names
from identity.tenants.models import Tenant
from oidc.keys import signing
from oidc.keys.models import SigningKey


@doctor_check
def signing_keys() -> Iterator[CheckMessage]:
    """Check that every tenant can sign tokens now, and after its next rotation."""
    keys = SigningKey.objects.exclude(status=SigningKey.Status.PREVIOUS).select_related("tenant")
    active: set[str] = set()
    undecryptable: dict[str, list[str]] = {SigningKey.Status.ACTIVE: [], SigningKey.Status.NEXT: []}
    for key in keys.order_by("tenant__slug"):
        if key.status == SigningKey.Status.ACTIVE and key.is_default:
            active.add(str(key.tenant_id))
        of_status = undecryptable[key.status]
        if not signing.can_decrypt(key) and key.tenant.slug not in of_status:
            of_status.append(key.tenant.slug)
    slugs = Tenant.objects.exclude(pk__in=active).order_by("slug").values_list("slug", flat=True)
    if slugs:
        yield Error(
            f"no active signing key: {join_names(list(slugs))}",
            hint="run manage.py rotate_keys --tenant SLUG, which creates one",
            id="signing_keys.E001",
        )
    if undecryptable[SigningKey.Status.ACTIVE]:
        yield Error(
            "the active signing key cannot be decrypted with ENCRYPTION_KEYS: "
            f"{join_names(undecryptable[SigningKey.Status.ACTIVE])}",
            hint="add the key that encrypted it to the end of ENCRYPTION_KEYS; if that key is lost, run "
            "manage.py rotate_keys --tenant SLUG. Applications accept new tokens once they fetch the key set "
            "again",
            id="signing_keys.E002",
        )
    if undecryptable[SigningKey.Status.NEXT]:
        yield Warning(
            "the next signing key cannot be decrypted with ENCRYPTION_KEYS: "
            f"{join_names(undecryptable[SigningKey.Status.NEXT])}",
            hint="add the key that encrypted it to the end of ENCRYPTION_KEYS, or delete the signing key and "
            "prepare another (docs/keys.md)",
            id="signing_keys.W003",
        )

"""The check that ENCRYPTION_KEYS has the keys that stored rows need."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check, join_names
from identity.encryption import columns, keyring


@doctor_check
def encryption_keys() -> Iterator[CheckMessage]:
    """Count the rows that need an older key, and those whose key is missing."""
    older: list[str] = []
    missing: list[str] = []
    for kind in columns.get_columns():
        for key, number in columns.count_by_key(kind).items():
            if key not in settings.ENCRYPTION_KEYS:
                missing.append(f"{number:,} {kind.name.replace('_', ' ')} ({key})")
            elif key != keyring.current_id():
                older.append(f"{number:,} {kind.name.replace('_', ' ')} ({key})")
    if missing:
        yield Error(
            f"ENCRYPTION_KEYS lacks keys that stored data needs: {join_names(missing)}",
            hint="restore the missing keys from your backup to the end of ENCRYPTION_KEYS; without them this "
            "data is lost",
            id="encryption_keys.E001",
        )
    if older:
        yield Warning(
            f"older keys of ENCRYPTION_KEYS are still needed: {join_names(older)}",
            hint="run manage.py rotate_keys --reseal to re-encrypt stored data; client secrets and refresh "
            "families move to the first key when they are used. Keep the older keys until this warning is "
            "gone",
            id="encryption_keys.W002",
        )

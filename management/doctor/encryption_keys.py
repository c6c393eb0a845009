"""What still hangs on which key of ENCRYPTION_KEYS."""

from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core.examination import examined, named
from identity.encryption import columns, keyring


@examined
def encryption_keys() -> Iterator[CheckMessage]:
    """Ask of each key but the first how much was made with it, and whether one is gone too early."""
    older: list[str] = []
    lost: list[str] = []
    for kind in columns.declared():
        for key, number in columns.by_key(kind).items():
            if key not in settings.ENCRYPTION_KEYS:
                lost.append(f"{number:,} {kind.name.replace('_', ' ')} ({key})")
            elif key != keyring.current():
                older.append(f"{number:,} {kind.name.replace('_', ' ')} ({key})")
    if lost:
        yield Error(
            f"ENCRYPTION_KEYS lacks keys that something was made with: {named(lost)}",
            hint="put the missing keys behind the others again, from your copy; what they made is lost "
            "without",
            id="encryption_keys.E001",
        )
    if older:
        yield Warning(
            f"older keys of ENCRYPTION_KEYS are still needed: {named(older)}",
            hint="manage.py rotate_keys --reseal moves what can be moved; client secrets and refresh "
            "families move "
            "when they are used. Keep the older keys until nothing is left",
            id="encryption_keys.W002",
        )

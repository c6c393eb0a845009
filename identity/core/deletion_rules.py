"""Rules of apps about deleting the rows of apps below them.

An app imports no app above it. Instead ``settings.DELETION_RULES`` has for a model the functions that may
refuse to delete one of its rows. Such a function raises a ``ServiceError``.
"""

from django.conf import settings
from django.db.models import Model
from django.utils.module_loading import import_string


def check(row: Model) -> None:
    """Call the rules for a row that is about to be deleted, in the transaction that deletes it.

    Raises:
        ServiceError: a rule refuses the deletion.

    """
    for path in settings.DELETION_RULES.get(row._meta.label, ()):
        import_string(path)(row)

"""The condition by which users are searched, which an index supports."""

from django.db.models import Q

from identity.users import identifiers


def match_users(text: str, *, prefix: str = "") -> Q:
    """Return the condition that a username, email, phone or name contains the text, in any spelling.

    ``prefix`` leads to the user from rows of another model, as ``user__`` does.
    """
    return Q(**{f"{prefix}search_text__contains": identifiers.fold(text)})

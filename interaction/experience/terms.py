"""The rule for agreeing to the terms of use and the privacy policy at registration."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid

# ``automatic``: a sentence on the page. ``manual``: a checkbox that new users must tick.
AUTOMATIC: Final = "automatic"
MANUAL: Final = "manual"
CHOICES: Final = (AUTOMATIC, MANUAL)
_URLS: Final = ("terms_of_use_url", "privacy_policy_url")


class NothingToAgreeTo(Invalid):
    """A checkbox without a document to which users could agree."""

    reason = "nothing_to_agree_to"


def check_documents(changes: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Check that there is a document to which users can agree, if they must.

    ``changes`` are the fields that the caller changes, and ``values`` those of the experience after it.

    Raises:
        NothingToAgreeTo: both URLs are empty.

    """
    if values["sign_up"].get("agree_to_terms") != MANUAL or any(values[name] for name in _URLS):
        return
    if "agree_to_terms" in changes.get("sign_up", ()):
        raise NothingToAgreeTo(
            "sign_up.agree_to_terms",
            gettext_noop("can be manual only with a terms_of_use_url or a privacy_policy_url"),
        )
    removed = next((name for name in _URLS if name in changes), "")
    if removed:
        raise NothingToAgreeTo(
            removed,
            gettext_noop("cannot be removed: users must agree to it (sign_up.agree_to_terms is manual)"),
        )

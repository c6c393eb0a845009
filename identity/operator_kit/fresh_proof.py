"""Operations that a stolen session of the operators' site must not run.

The administrator proves the identity again: with the code of the second step or, without one, with the
password. The proof is valid for ``CONFIRM_SECONDS`` in this session. A sign-in with these or with a passkey
counts as a proof too, and so does choosing the password of an invitation. Single sign-on does not.
"""

import time
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from identity.operator_kit import kept_input

_KEY: Final = "proven_at"
_ASKED: Final = "asked_for_proof"


def record(request: HttpRequest) -> None:
    """Store in the session that the administrator has just proven the identity."""
    request.session[_KEY] = int(time.time())


def is_missing(request: HttpRequest) -> bool:
    """Return whether the administrator has to prove the identity again."""
    proven_at: Any = request.session.get(_KEY, 0)
    return not 0 <= time.time() - proven_at <= settings.CONFIRM_SECONDS


def ask(request: HttpRequest, *, back: str = "") -> HttpResponseRedirect:
    """Redirect to the page that asks for the proof, and from there back.

    The input of a form is kept, unless ``back`` names the page that follows.
    """
    is_kept = request.method == "POST" and not back
    back = back or (request.get_full_path() if request.method == "GET" else request.path)
    if is_kept:
        kept_input.note_end(request.session, request.user.pk)
        request.session[_ASKED] = True
        back = kept_input.keep(request) or back
    return HttpResponseRedirect(f"{reverse('admin:confirm')}?{urlencode({REDIRECT_FIELD_NAME: back})}")


def was_asked(request: HttpRequest) -> bool:
    """Return whether input was kept because a proof was missing, and not because the session had ended."""
    return bool(request.session.get(_ASKED))


def forget(request: HttpRequest) -> None:
    """Delete the note that input was kept."""
    request.session.pop(_ASKED, None)

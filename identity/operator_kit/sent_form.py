"""The hidden fields of a form: the key by which it is run once if sent twice, and the row's version."""

import hashlib
import secrets
from typing import Final

import orjson
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from identity.submissions import idempotency
from identity.submissions.idempotency import Answer, SentRequest

FIELD: Final = "idempotency_key"
_MAX_KEY: Final = 255
_OTHER_FIELDS: Final = {FIELD, "csrfmiddlewaretoken"}


def new_key() -> str:
    """Return the key of a form that is about to be shown."""
    return secrets.token_urlsafe(18)


def get_sent(request: HttpRequest) -> SentRequest:
    """Return a form as it was sent. A form without a valid key gets an empty one, and can run repeatedly."""
    key = request.POST.get(FIELD, "")
    fields = sorted((name, values) for name, values in request.POST.lists() if name not in _OTHER_FIELDS)
    return SentRequest(
        caller=f"administrator {request.user.pk}",
        key=key if len(key) <= _MAX_KEY else "",
        content=orjson.dumps([request.method, request.path, fields, *_hash_files(request)]),
    )


def get_expected_versions(request: HttpRequest) -> frozenset[int] | None:
    """Return the version of the row that the form shows, or None if the form has no valid version."""
    version = request.POST.get("version", "")
    is_number = version.isascii() and version.isdigit() and len(version) < 10  # noqa: PLR2004
    return frozenset({int(version)}) if is_number else None


def was_sent(request: HttpRequest) -> bool:
    """Return whether ``claim`` was called with this form, or with another one that has its key."""
    try:
        return idempotency.find_answer(get_sent(request)) is not None
    except idempotency.KeyReused:
        return True


def claim(request: HttpRequest) -> bool:
    """Mark a form as sent, and return whether this is the first time that it is sent.

    Call it before work that cannot run in one transaction. A second request with the form gets false even
    while the work of the first still runs.
    """
    is_first = False

    def note() -> Answer:
        nonlocal is_first
        is_first = True
        return {}

    try:
        idempotency.run_once(get_sent(request), note)
    except idempotency.KeyReused:
        return False
    return is_first


def _hash_files(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the name of each file's field and the hash of its content."""
    hashes = []
    for name, file in sorted(request.FILES.items()):
        assert isinstance(file, UploadedFile)  # noqa: S101 - the stubs allow lists too
        hashes.append((name, hashlib.sha256(file.read()).hexdigest()))
        file.seek(0)
    return hashes

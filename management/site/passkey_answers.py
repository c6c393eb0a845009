"""Requests and responses of the passkeys' script on the operators' site, in JSON."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from identity.core.errors import Invalid, ServiceError
from management.site.sign_in import to_sentence

Work = Callable[[HttpRequest, dict[str, Any]], dict[str, Any]]


def answers_script(work: Work) -> Callable[[HttpRequest], HttpResponse]:
    """Turn a function of the request and its body into a view, which renders refusals as the API does."""

    @never_cache
    @require_POST
    @wraps(work)
    def view(request: HttpRequest) -> HttpResponse:
        try:
            return JsonResponse({"result": work(request, _read(request))})
        except ServiceError as refusal:
            content = {
                "message": to_sentence(refusal),
                "result": refusal.result or {"reason": refusal.reason},
            }
            return JsonResponse(content, status=refusal.status, headers=refusal.headers)

    return view


def get_browser(request: HttpRequest) -> str:
    """Return what identifies the browser: a hash of the secret that its forms are bound to.

    A sign-in replaces the secret.
    """
    return hashlib.sha256(request.META["CSRF_COOKIE"].encode()).hexdigest()


def _read(request: HttpRequest) -> dict[str, Any]:
    if request.content_type != "application/json":  # the CSRF check has read a form, which leaves no body
        raise Invalid("body", "must be JSON")
    try:
        body = orjson.loads(request.body)
    except ValueError:
        raise Invalid("body", "must be JSON") from None
    if not isinstance(body, dict):
        raise Invalid("body", "must be a JSON object")
    return body

"""All steps and an issuing plan, side by side: each request for client credentials goes both ways.

The answer that a client gets is compared with that of all steps, which run just before in a transaction that
is rolled back. Then the plan, if there is one by now, answers once more in such a transaction. Status,
headers, body, the claims of the token and the audit entries must be the same. The server of the run does
this, so that all tests of the token endpoint are tests of plans, too.
"""

import base64
import os
import threading
from collections.abc import Callable, Iterable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from unittest import mock

import orjson
from django.db import DEFAULT_DB_ALIAS, connections, transaction

from audit.models import Entry
from config import wsgi
from oidc.keys import usage
from oidc.provider.token import plans
from oidc.provider.token.repeated import SentRequest
from oidc.provider.token.request import Granted
from tests.support.comparison import FILE

_MOST_BYTES: Final = 100_000
_surfaces: Final[Any] = import_module("config.surfaces")  # config.wsgi has prepared the apps that it needs
_local: Final = threading.local()
Environ = dict[str, Any]
Served = tuple[str, list[tuple[str, str]], bytes]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def is_compared(environ: Environ) -> bool:
    """Say whether a request is for client credentials. Its body can be read again."""
    length = environ.get("CONTENT_LENGTH") or "none"
    if FILE not in os.environ or not environ["PATH_INFO"].endswith("/oidc/token") or not length.isdecimal():
        return False
    if environ["REQUEST_METHOD"] != "POST" or int(length) > _MOST_BYTES:
        return False
    body = environ["wsgi.input"].read(int(length))
    environ["wsgi.input"] = BytesIO(body)
    return b"client_credentials" in body


def serve(environ: Environ, start_response: Callable[..., Any], application: Application) -> Iterable[bytes]:
    """Serve a request by the application, and note whether a plan or all steps answer otherwise."""
    body = environ["wsgi.input"].read()

    def twin() -> Environ:
        return {**environ, "wsgi.input": BytesIO(body)}

    before = _undone(_by_steps, twin())
    status, headers, content = _ask(application, twin())
    _compare(before, _describe((status, headers, content)), twin)
    by_plan = _undone(_by_plan, twin())
    if by_plan:
        _compare(before, by_plan, twin)
    _note(
        "planned" if by_plan else "not planned", status, environ["PATH_INFO"], dict(headers)["X-Request-Id"]
    )
    start_response(status, headers)
    return [content]


def _ask(application: Application, environ: Environ) -> Served:
    sent: list[Any] = []
    response = application(environ, lambda *head: sent.extend(head))
    content = b"".join(response)
    getattr(response, "close", list)()
    return sent[0], sent[1], content


def _by_steps(environ: Environ) -> Served:
    environ["CONTENT_TYPE"] = wsgi._get_content_type(environ)
    return _ask(wsgi._django, environ)


def _by_plan(environ: Environ) -> Served | None:
    answer = _surfaces.serve(environ)
    if answer is None:
        return None
    return _surfaces.get_status_line(answer), list(answer.headers.items()), answer.body


def _undone(serve: Callable[[Environ], Served | None], environ: Environ) -> str:
    """Return what an answer and its audit entries are like, and undo what the request changed."""
    recorded = dict(usage._recorded)
    _local.is_undone = True
    database = connections[DEFAULT_DB_ALIAS]
    try:
        # Both ways close a connection that is not as they left it.
        with mock.patch.object(database, "close_if_unusable_or_obsolete", list), transaction.atomic():
            served = serve(environ)
            described = _describe(served) if served else ""
            transaction.set_rollback(True)
    finally:
        _local.is_undone = False
        usage._recorded.clear()
        usage._recorded.update(recorded)
    return described


def _describe(served: Served) -> str:
    status, headers, content = served
    by_name = dict(headers)
    body: Any = content.decode()
    if by_name["Content-Type"] == "application/json":
        body = orjson.loads(content)
        if "access_token" in body:
            head, claims, _ = body["access_token"].split(".")
            body["access_token"] = [_decode(head), _without(_decode(claims), "iat", "exp", "jti")]
            by_name.pop("Content-Length")
    entries = [
        _without(vars(entry), "id", "created_at", "request_id", "_state")
        | {"payload": _without(entry.payload, "access_token_exp")}
        for entry in Entry.objects.filter(request_id=by_name["X-Request-Id"]).order_by("key")
    ]
    seen = [status, _without(by_name, "X-Request-Id", "Retry-After"), len(headers), body, entries]
    return orjson.dumps(seen, option=orjson.OPT_SORT_KEYS).decode()


def _decode(part: str) -> dict[str, Any]:
    decoded: dict[str, Any] = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return decoded


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


def _compare(before: str, found: str, twin: Callable[[], Environ]) -> None:
    # If all steps answer otherwise now, another request has changed something meanwhile, perhaps twice.
    if found != before and before == (after := _undone(_by_steps, twin())):
        _note("differs", before, found, after)


def _note(*facts: object) -> None:
    with Path(os.environ[FILE]).open("ab") as file:
        file.write(orjson.dumps(facts) + b"\n")


def _add_unless_undone(sent: SentRequest, granted: Granted, answer: bytes) -> None:
    if not getattr(_local, "is_undone", False):
        _add(sent, granted, answer)


_add, plans.add = plans.add, _add_unless_undone

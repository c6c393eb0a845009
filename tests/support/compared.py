"""Django's handler and a surface, side by side: token requests and userinfo go both ways.

Before a request is answered, all steps answer it in a transaction that is rolled back, and then the surface
in another one. If there is no issuing plan yet, the one that these steps made answers. Status, headers, body,
the claims of the tokens, the audit entries and the rows of the code and of the refresh family must be the
same, and the same as after the answer that the client gets. The server of the run does this, so that all
tests of the token endpoint and of userinfo are tests of their surfaces, too.
"""

import base64
import os
import re
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
from config.server import content_types
from identity.core import tenancy
from oidc.grants import codes
from oidc.grants.models import AuthorizationCode, RefreshFamily, RevokedToken
from oidc.keys import usage
from oidc.provider.token import plan_store
from oidc.provider.token.plan_store import Plan
from oidc.provider.token.raw_request import RawTokenRequest
from tests.support.comparison import FILE

_MOST_BYTES: Final = 100_000
_GRANTS: Final = (b"client_credentials", b"refresh_token", b"authorization_code")
_FAMILY: Final = re.compile(rb"refresh_token=([0-9a-f-]{36})\.")
_CODE: Final = re.compile(rb"(?:\A|&)code=([A-Za-z0-9_-]+)(?:&|\Z)")
# Of tokens and entries: what differs in each answer, or follows from what does.
_FRESH: Final = ("iat", "exp", "jti", "at_hash", "epoch_hash")
_FRESH_OF_CODES: Final = (*_FRESH, "family_id")
_FRESH_FACTS: Final = ("access_token_exp", "id_token_exp")
# ``config.wsgi`` has prepared the apps that it needs.
_surfaces: Final[Any] = import_module("config.server.surfaces")
_local: Final = threading.local()
Environ = dict[str, Any]
Served = tuple[str, list[tuple[str, str]], bytes]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


def is_compared(environ: Environ) -> bool:
    """Say whether a request is for tokens or userinfo. Its body can be read again."""
    path, length = environ["PATH_INFO"], environ.get("CONTENT_LENGTH") or "0"
    is_userinfo = path.endswith("/oidc/userinfo")
    if FILE not in os.environ or not (is_userinfo or path.endswith("/oidc/token")):
        return False
    if "HTTP_TRANSFER_ENCODING" in environ or not length.isdecimal() or int(length) > _MOST_BYTES:
        return False
    body = environ["wsgi.input"].read(int(length))
    environ["wsgi.input"] = BytesIO(body)
    is_grant = environ["REQUEST_METHOD"] == "POST" and any(grant in body for grant in _GRANTS)
    return is_userinfo or is_grant


def serve(environ: Environ, start_response: Callable[..., Any], application: Application) -> Iterable[bytes]:
    """Serve a request by the application, and note whether the surface or all steps answer otherwise."""
    body = environ["wsgi.input"].read()

    def twin() -> Environ:
        return {**environ, "wsgi.input": BytesIO(body)}

    _local.made = None
    before = _undone(_by_steps, twin())
    by_surface = _undone(_by_surface, twin())
    if by_surface:
        _compare(before, by_surface, twin)
    status, headers, content = _ask(application, twin())
    _compare(before, _describe((status, headers, content), body), twin)
    way = "by its surface" if by_surface else "by all steps"
    _note(way, status, environ["PATH_INFO"], dict(headers)["X-Request-Id"])
    start_response(status, headers)
    return [content]


def _ask(application: Application, environ: Environ) -> Served:
    sent: list[Any] = []
    response = application(environ, lambda *head: sent.extend(head))
    content = b"".join(response)
    getattr(response, "close", list)()
    return sent[0], sent[1], b"" if environ["REQUEST_METHOD"] == "HEAD" else content


def _by_steps(environ: Environ) -> Served:
    environ["CONTENT_TYPE"] = content_types.clean(environ)
    return _ask(wsgi._django, environ)


def _by_surface(environ: Environ) -> Served | None:
    answer = _surfaces.serve(environ)
    if answer is None:
        return None
    content = b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.body
    return answer.status_line, list(answer.headers.items()), content


def _undone(serve: Callable[[Environ], Served | None], environ: Environ) -> str:
    """Return what an answer and its rows are like, and undo what the request changed."""
    body = environ["wsgi.input"].getvalue()
    recorded = dict(usage._recorded)
    _local.is_undone = True
    database = connections[DEFAULT_DB_ALIAS]
    try:
        # Both ways close a connection that is not as they left it.
        with mock.patch.object(database, "close_if_unusable_or_obsolete", list), transaction.atomic():
            served = serve(environ)
            described = _describe(served, body) if served else ""
            transaction.set_rollback(True)
    finally:
        _local.is_undone = False
        usage._recorded.clear()
        usage._recorded.update(recorded)
    return described


def _describe(served: Served, sent: bytes) -> str:
    status, headers, content = served
    by_name = dict(headers)
    body: Any = content.decode()
    if body.startswith('{"access_token":'):
        body = orjson.loads(content)
        tokens = ("access_token", "id_token")
        code = _find_code(sent)
        fresh = _FRESH_OF_CODES if code else _FRESH
        body |= {name: _describe_token(body[name], fresh) for name in tokens if name in body}
        if code and "refresh_token" in body:  # of a new family
            body["refresh_token"] = body["refresh_token"].split(".")[1:3]
        by_name.pop("Content-Length")
    elif body and by_name["Content-Type"] == "application/jwt":
        body = body.rpartition(".")[0]  # the signature differs
    entries = [
        _without(vars(entry), "id", "created_at", "request_id", "_state")
        | {"payload": _without(entry.payload, *_FRESH_FACTS)}
        for entry in Entry.objects.of_request(by_name["X-Request-Id"]).order_by("key")
        if "count" not in entry.payload  # repeated failures have such a summary once a minute
    ]
    headers_seen = _without(by_name, "X-Request-Id", "Retry-After")
    seen = [status, headers_seen, len(headers), body, entries, _describe_family(sent), _describe_code(sent)]
    return orjson.dumps(seen, option=orjson.OPT_SORT_KEYS).decode()


def _describe_token(token: str, fresh: tuple[str, ...]) -> list[Any]:
    head, claims = map(_decode, token.split(".")[:2])
    return [head, _without(claims, *fresh), sorted(claims), claims["exp"] - claims["iat"]]


def _describe_family(sent: bytes) -> list[Any]:
    found = _FAMILY.search(sent)
    if found is None:
        return []
    with tenancy.using(tenancy.EVERYWHERE):
        rows = RefreshFamily.objects.filter(pk=found[1].decode())
        return [[row.generation, row.key_id, row.end_reason, row.ended_at is None] for row in rows]


def _find_code(sent: bytes) -> str:
    found = _CODE.search(sent)
    return found[1].decode() if found else ""


def _describe_code(sent: bytes) -> list[Any]:
    """Return what is stored of a code, and of the tokens for which it was redeemed."""
    with tenancy.using(tenancy.EVERYWHERE):
        rows = AuthorizationCode.objects.filter(code_hash=codes.get_hash(_find_code(sent)))
        return [
            [
                *(value is None for value in (row.consumed_at, row.family_id, row.access_token_id)),
                [_describe_new_family(each) for each in RefreshFamily.objects.filter(pk=row.family_id)],
                RevokedToken.objects.filter(token_id=row.access_token_id or "").exists(),
            ]
            for row in rows
        ]


def _describe_new_family(family: RefreshFamily) -> dict[str, Any]:
    times = ("idle_expires_at", "expires_at")
    fresh = ("_state", "id", "created_at", "updated_at", "rotated_at", "ended_at", *times)
    lifetimes = {name: round((getattr(family, name) - family.created_at).total_seconds()) for name in times}
    return _without(vars(family), *fresh) | lifetimes | {"is_live": family.ended_at is None}


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


def _is_undone() -> bool:
    return getattr(_local, "is_undone", False)


def _find_or_take(sent: RawTokenRequest) -> Plan | None:
    found = _find(sent)
    made: Plan | None = _local.made if _is_undone() and found is None else None
    return made if made and made.form == sent.form else found


def _store_unless_undone(plan: Plan, sent: RawTokenRequest) -> None:
    if _is_undone():
        _local.made = plan
    else:
        _store(plan, sent)


def _delete_unless_undone(plan: Plan, sent: RawTokenRequest) -> None:
    if not _is_undone():
        _delete(plan, sent)


_find, plan_store.find = plan_store.find, _find_or_take
_store, plan_store.store = plan_store.store, _store_unless_undone
_delete, plan_store.delete = plan_store.delete, _delete_unless_undone

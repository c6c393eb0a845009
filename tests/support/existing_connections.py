"""The application of production without garbage collection, which tells how many connections exist."""

import gc
from collections.abc import Callable, Iterable
from typing import Any

from config.server.connection import Connection
from config.wsgi import application as production


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve a request. One path has the number of connections, with that of the request itself."""
    gc.disable()
    if environ["PATH_INFO"] != "/connections":
        return production(environ, start_response)
    number = str(sum(isinstance(one, Connection) for one in gc.get_objects())).encode()
    start_response("200 OK", [("Content-Length", str(len(number)))])
    return (number,)

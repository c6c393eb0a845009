"""The WSGI application that gunicorn serves."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve a request, whose content type loses its parameters first.

    We read UTF-8 alone. Django would decode with whatever ``charset`` a client names, and
    fails before any code of ours on codecs that are none for text.
    """
    environ["CONTENT_TYPE"] = environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
    return _django(environ, start_response)

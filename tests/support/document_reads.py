"""The application of production, whose reads of documents fail, break or wait, as a file says."""

import os
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from django.db import OperationalError

from config.wsgi import application

__all__ = ["application"]

_documents: Any = import_module("config.server.documents")  # config.wsgi has prepared the apps that it needs
_read = _documents.read


def _read_as_told(tenant: Any, get: Callable[[], Any]) -> Any:
    file = Path(os.environ["TEST_DOCUMENT_READS_FILE"])
    while (told := file.read_text()) == "wait":
        time.sleep(0.01)
    if told == "fail":
        raise OperationalError("connection to 10.1.2.3 refused")
    if told == "break":
        raise ZeroDivisionError("broken on purpose")
    return _read(tenant, get)


_documents.read = _read_as_told

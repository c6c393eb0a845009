"""The envelope of every response below ``/api/``: ``{code, message, result}``."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import orjson
from django.http import HttpResponse
from rest_framework.renderers import BaseRenderer

from identity.rest.fields import timestamp

SUCCESS: Final = "success"


def refusal(code: int, message: str, result: object = "") -> dict[str, object]:
    """Return the envelope of an error, whose code is the HTTP status."""
    return {"code": code, "message": message, "result": result}


class EnvelopeRenderer(BaseRenderer):
    """Renders the result of a view in an envelope. Responses of the exception handler already have one."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the envelope as JSON."""
        response = (renderer_context or {}).get("response")
        if response is None or not response.exception:
            data = {"code": 0, "message": SUCCESS, "result": data}
        return orjson.dumps(data, _serialize, orjson.OPT_PASSTHROUGH_DATETIME)


def _serialize(value: object) -> str:
    if isinstance(value, datetime):
        return timestamp(value)
    raise TypeError(f"not JSON: {type(value)}")


def plain_refusal(code: int, message: str) -> HttpResponse:
    """Return an error response for unknown paths and failures, where no API view runs."""
    response = HttpResponse(
        orjson.dumps(refusal(code, message)), content_type="application/json", status=code
    )
    response["Cache-Control"] = "no-store"
    return response

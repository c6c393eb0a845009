"""The header that names the fields and parameters which the API has ignored."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponse

from identity.http import areas
from identity.rest import unknown_fields

HEADER: Final = "Gatehouse-Unknown-Fields"
# The statuses of requests whose body was read. With another status, the body is not read here.
_READ: Final = {HTTPStatus.OK, HTTPStatus.BAD_REQUEST, HTTPStatus.PRECONDITION_FAILED}


class UnknownFieldsMiddleware:
    """Adds the header to responses below ``/api/v1``, so that a misspelt field is noticed."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.path_info.startswith(areas.API_V1) and response.status_code in _READ:
            served = getattr(response, "renderer_context", None)
            result = getattr(response, "data", None) if response.status_code == HTTPStatus.OK else None
            if served and (names := unknown_fields.describe(served["view"], served["request"], result)):
                response[HEADER] = names
        return response

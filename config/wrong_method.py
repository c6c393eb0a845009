"""The response to a method that a path does not support, in the format of the path."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from config import errors


class WrongMethodMiddleware:
    """Adds a body to the empty 405 response of Django's decorators."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request."""
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        error = errors.wrong_method(request)
        error["Allow"] = response["Allow"]
        return error

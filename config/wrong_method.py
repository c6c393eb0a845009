"""What is answered to a method that an address does not know, in the shape of its path."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from config import errors


class WrongMethodMiddleware:
    """Gives the empty 405 of Django's decorators a body; what has one already stays as it is."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request."""
        response = self.get_response(request)
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        answer = errors.wrong_method(request)
        answer["Allow"] = response["Allow"]
        return answer

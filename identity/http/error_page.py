"""The error page, which says what happened and what to do next."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from audit import context


@dataclass(frozen=True, slots=True)
class Link:
    """A link to continue with."""

    href: str
    label: str


def error_page(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest,
    status: int,
    *,
    title: str,
    message: str,
    next_step: str,
    link: Link | None = None,
    developer: Mapping[str, object] | None = None,
) -> HttpResponse:
    """Return the error page with the id of the request. It is never cached.

    ``developer`` are facts for the developer of an application, which only a development start shows.
    """
    response = render(
        request,
        "interaction/error.html",
        {
            "status": status,
            "title": title,
            "message": message,
            "next_step": next_step,
            "link": link,
            "developer": developer,
            "request_id": context.current().request_id,
        },
        status=status,
    )
    response["Cache-Control"] = "no-store"
    return response

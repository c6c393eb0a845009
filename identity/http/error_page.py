"""The page that tells a person what went wrong and what to do next."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from audit import context


@dataclass(frozen=True, slots=True)
class Link:
    """Where to go from here."""

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
) -> HttpResponse:
    """Answer with a page that is never cached and shows the id to ask about."""
    response = render(
        request,
        "interaction/error.html",
        {
            "status": status,
            "title": title,
            "message": message,
            "next_step": next_step,
            "link": link,
            "request_id": context.current().request_id,
        },
        status=status,
    )
    response["Cache-Control"] = "no-store"
    return response

"""The stylesheet of the tenant's brand."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from interaction.experience import brand as branding
from interaction.experience import services as experiences
from interaction.pages import context


@require_safe
def brand(request: HttpRequest) -> HttpResponse:
    """Return the tenant's colours as a stylesheet, so that no page needs an inline style.

    A preview, and a page with the branding of an application or organization, names its colours in the
    query. Only colours are accepted, and no other ones are read.
    """
    colours = experiences.current().branding
    css = branding.stylesheet(*(request.GET.get(name, colours[name]) for name in context.COLOURS))
    response = HttpResponse(css, content_type="text/css; charset=utf-8")
    response["ETag"] = f'"{hashlib.sha256(css.encode()).hexdigest()[:32]}"'
    response["Cache-Control"] = "no-cache"
    conditional = get_conditional_response(request, etag=response["ETag"], response=response)
    assert isinstance(conditional, HttpResponse)  # noqa: S101 - never None with a response argument
    return conditional

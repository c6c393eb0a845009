"""The pictures of a tenant's brand."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from identity.http.responses import sandbox
from interaction.experience import pictures


@require_safe
def picture(request: HttpRequest, digest: str) -> HttpResponse:
    """Return a stored picture, which browsers can cache permanently: its address has a hash of its content.

    Raises:
        Http404: the tenant has no such picture.

    """
    found = pictures.find(digest)
    if found is None:
        raise Http404
    response = HttpResponse(bytes(found.content), content_type=found.content_type)
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    sandbox(response)
    return response

"""Links to the pages of the documentation, if the installation has published them."""

from django.conf import settings


def get_url(page: str) -> str:
    """Return the URL of a page of ``docs``, such as ``how-to/flask``; an empty string if there is none."""
    return f"{settings.DOCUMENTATION_URL}/{page}.html" if settings.DOCUMENTATION_URL and page else ""

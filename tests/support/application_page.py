"""The console page of an application."""

from html import unescape

from tests.support.operators import text_of

KIND = "applications/application"


def page_of(operator, application):
    return unescape(text_of(operator.get(f"/admin/{KIND}/{application.pk}/change/")))

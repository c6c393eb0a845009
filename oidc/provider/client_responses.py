"""Sending the browser to the client with an authorization response."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from identity.http.responses import allow_only_form_target, redirect
from oidc.applications import redirect_uris
from oidc.provider.authorization.response import FORM_POST, ClientResponse


def send(request: HttpRequest, response: ClientResponse) -> HttpResponse:
    """Return a redirect to the client or, for ``form_post``, a page whose form leads there.

    The page's script submits the form. Without scripts the user presses its button.
    """
    if response.mode != FORM_POST:
        return redirect(response.url)
    page = render(
        request,
        "interaction/form_post.html",
        {
            "action": response.redirect_uri,
            "fields": response.parameters.items(),
            "site": urlsplit(response.redirect_uri).netloc,
        },
    )
    page["Cache-Control"] = "no-store"
    allow_only_form_target(page, redirect_uris.form_source(response.redirect_uri))
    return page

"""The page for a sign-in that has expired, with a button that leads on."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from database import ids
from identity.http import responses
from identity.http.error_page import Link
from identity.sessions import cookies
from identity.sessions.models import Session
from oidc.applications import client_metadata
from oidc.applications.models import Application
from oidc.grants import requests
from oidc.grants.codes import find_last_application


def expired_sign_in(request: HttpRequest, interaction: str = "") -> HttpResponse:
    """Return the page for a sign-in that has expired or belongs to another browser.

    Users who are signed in continue to the application, or to the account page if the application is a third
    party, whose name may mislead. Others start again, if the application has a URL for that.
    """
    session = cookies.current_session(request)
    application = _find_application(request, interaction, session)
    return responses.expired_sign_in_page(request, _build_link(application, session))


def _find_application(request: HttpRequest, interaction: str, session: Session | None) -> Application | None:
    """Return the application of an expired request, or the one that the session signed in to last."""
    browser, proofs = cookies.get_browser(request), cookies.get_proofs(request)
    request_id = ids.parse(interaction)
    if request_id and (application := requests.find_application(browser, request_id, proofs=proofs)):
        return application
    return find_last_application(session) if session else None


def _build_link(application: Application | None, session: Session | None) -> Link | None:
    url = client_metadata.build_login_url(application) if application else ""
    if session is None:
        return Link(url, _("Start again")) if url else None
    url = url or (application.client_uri if application else "")
    if application and url and not application.is_third_party:
        return Link(url, _("Continue to %(name)s") % {"name": application.name})
    return Link(reverse("pages:account"), _("Go to your account"))

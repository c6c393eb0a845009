"""Functions shared by the views of the account pages."""

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from audit import context
from identity.core.errors import ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import add_headers, redirect
from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys.second_factor import reauthentication
from interaction.pages import error_messages
from interaction.pages.account_forms import AccountForm
from interaction.pages.views import shared

T = TypeVar("T")
View = Callable[[HttpRequest, Session], HttpResponse]

_FIELDS: Final = {
    "invalid_credentials": "password",
    "locked": "password",
    "wrong_code": "code",
    "second_factor_wrong": "code",
}
# The pages to which the page of a confirmation leads back.
_CONFIRMED: Final = frozenset(
    (
        *("account-username", "account-email", "account-email-code", "account-phone", "account-phone-code"),
        *("account-password", "account-data", "account-delete", "account-linked"),
        *("account-security", "account-authenticator", "account-backup-codes", "account-passkeys"),
        "account-remembered",
    )
)
_METHODS: Final = ["GET", "HEAD", "POST"]


def account_page(view: View) -> Callable[[HttpRequest], HttpResponse]:
    """Pass the browser's session to a view; without a session, redirect to the sign-in page.

    Audit entries name the user of the session, and a ``ServiceError`` becomes an error page.
    """

    @require_http_methods(_METHODS)
    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        session = cookies.current_session(request)
        if session is None:
            return redirect(reverse("pages:sign-in"))
        context.set_actor(user_id=str(session.user_id))
        try:
            return view(request, session)
        except reauthentication.ConfirmNeeded:
            return redirect(_get_confirm_url(request))
        except ServiceError as error:
            return _refuse(request, error)

    return wrapped


def confirmed_page(view: View) -> Callable[[HttpRequest], HttpResponse]:
    """Do what ``account_page`` does, for a user who proved any second factor within ``CONFIRM_SECONDS``."""

    @wraps(view)
    def wrapped(request: HttpRequest, session: Session) -> HttpResponse:
        reauthentication.check_factor(session)
        return view(request, session)

    return account_page(wrapped)


def _get_confirm_url(request: HttpRequest) -> str:
    name = request.resolver_match.url_name if request.resolver_match else ""
    return f"{reverse('pages:confirm')}?{urlencode({'back': get_page_to_return_to(name or '')})}"


def get_page_to_return_to(name: str) -> str:
    """Return the name of a page that needs a confirmation; that of the account page for any other text."""
    return name if name in _CONFIRMED else "account"


def render_page(
    request: HttpRequest,
    session: Session,
    template: str,
    *,
    form: AccountForm | None = None,
    **values: object,
) -> HttpResponse:
    """Render an account page with the status of its form.

    ``done`` is the change that the page confirms, if any.
    """
    response = shared.render_page(
        request,
        f"account/{template}",
        None,
        form.status if form else 200,
        form=form,
        user=shared.describe_user(session.user),
        has_password=bool(session.user.password),
        must_sign_in=reauthentication.must_sign_in_again(session),
        done=request.GET.get("done", ""),
        **values,
    )
    if form and form.refusal:
        add_headers(response, form.refusal.headers)
    return response


def form_data(request: HttpRequest) -> QueryDict | None:
    """Return the data of a submitted form; None for a GET request."""
    return request.POST if request.method == "POST" else None


def redirect_done(name: str, change: str) -> HttpResponse:
    """Redirect to a page that confirms the change."""
    return redirect(f"{reverse(name)}?done={change}")


def attempt(form: AccountForm, action: Callable[[], T]) -> T | None:
    """Call an action if the form is valid. Add the messages of a ``ServiceError`` to the form."""
    if not form.is_valid():
        return None
    try:
        return action()
    except reauthentication.ConfirmNeeded:
        raise
    except ServiceError as error:
        form.refusal = error
        field = _get_field(error)
        for message in error_messages.get_messages(error):
            form.add_error(field if field in form.fields else None, message)
        return None


def _get_field(error: ServiceError) -> str:
    return _FIELDS.get(error.reason) or str(getattr(error, "field", ""))


def _refuse(request: HttpRequest, error: ServiceError) -> HttpResponse:
    response = error_page(
        request,
        error.status,
        title=gettext("Something went wrong"),
        message=" ".join(error_messages.get_messages(error)),
        next_step="",
        link=Link(reverse("pages:account"), gettext("Back to your account")),
    )
    return add_headers(response, error.headers)

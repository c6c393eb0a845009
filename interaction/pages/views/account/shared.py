"""What the pages of an account have in common."""

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from audit import context
from identity.core.errors import ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import redirect
from identity.sessions import cookies
from identity.sessions.models import Session
from interaction.journeys.account import confirmation
from interaction.pages import refusals
from interaction.pages.account_forms import AccountForm
from interaction.pages.views import shared

T = TypeVar("T")
View = Callable[[HttpRequest, Session], HttpResponse]

_FIELDS: Final = {"invalid_credentials": "password", "locked": "password", "wrong_code": "code"}
_METHODS: Final = ["GET", "HEAD", "POST"]


def account_page(view: View) -> Callable[[HttpRequest], HttpResponse]:
    """Give a view the browser's session; without one, lead to the sign-in page.

    What the view does is filed under the person, and what it refuses becomes a page.
    """

    @require_http_methods(_METHODS)
    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        session = cookies.current_session(request)
        if session is None:
            return redirect(reverse("pages:sign-in"))
        context.act_as(user_id=str(session.user_id))
        try:
            return view(request, session)
        except ServiceError as error:
            return _refused(request, error)

    return wrapped


def page(
    request: HttpRequest,
    session: Session,
    template: str,
    *,
    form: AccountForm | None = None,
    **shown: object,
) -> HttpResponse:
    """Render a page of the account; the status is that of its form.

    ``done`` on it names the step that led here, if one did.
    """
    response = shared.page(
        request,
        f"account/{template}",
        None,
        form.status if form else 200,
        form=form,
        user=shared.person(session.user),
        has_password=bool(session.user.password),
        must_sign_in=confirmation.is_missing(session),
        done=request.GET.get("done", ""),
        **shown,
    )
    _add_headers(response, form.refusal if form else None)
    return response


def sent(request: HttpRequest) -> QueryDict | None:
    """Return what a form sent, be it nothing; none when the page was only asked for."""
    return request.POST if request.method == "POST" else None


def done(name: str, what: str) -> HttpResponse:
    """Lead to a page, which then says what was done."""
    return redirect(f"{reverse(name)}?done={what}")


def attempt(form: AccountForm, work: Callable[[], T]) -> T | None:
    """Do what a form asks for. What is refused is said in the form, at the field it speaks of."""
    if not form.is_valid():
        return None
    try:
        return work()
    except ServiceError as error:
        form.refusal = error
        field = _field_of(error)
        for sentence in refusals.sentences(error):
            form.add_error(field if field in form.fields else None, sentence)
        return None


def _field_of(error: ServiceError) -> str:
    return _FIELDS.get(error.reason) or str(getattr(error, "field", ""))


def _refused(request: HttpRequest, error: ServiceError) -> HttpResponse:
    response = error_page(
        request,
        error.status,
        title=gettext("That did not work"),
        message=" ".join(refusals.sentences(error)),
        next_step="",
        link=Link(reverse("pages:account"), gettext("Back to your account")),
    )
    _add_headers(response, error)
    return response


def _add_headers(response: HttpResponse, error: ServiceError | None) -> None:
    for name, value in error.headers.items() if error else ():
        response[name] = value

"""Pages that ask for an email or phone, send a code, and verify it: a step of several journeys."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from identity.core import durations
from identity.core.errors import Invalid, ServiceError
from identity.http.responses import add_headers, redirect
from identity.limits import rules
from identity.sessions import cookies
from identity.users import identifiers
from identity.users.identifiers import Kind
from interaction.journeys import codes
from interaction.journeys.pending import Pending, page_url
from interaction.pages import context, error_messages, labels, passkey_part
from interaction.pages.forms import AddressForm, CodeForm
from interaction.pages.views import shared
from interaction.pages.views.entered_code import EnteredCode
from interaction.verification.models import Purpose
from interaction.verification.services import SentTooOften

# The button with this name leads from the sign-in page to this step, with what was typed there.
_CARRIED: Final = "carry"
_HINT: Final = "login_hint"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeStep:
    """A step that asks for a code: its purpose, the kinds of recipient, and the page.

    ``redeem`` is called with the entered code, and raises a ``ServiceError`` if the code is wrong. ``url`` is
    the URL of the page if it has a query. ``without_url`` is the URL that skips the step. ``asks_to_stay``
    says that the page has the box with which users stay signed in.
    """

    purpose: Purpose
    kinds: list[Kind]
    page: str
    redeem: Callable[[EnteredCode], HttpResponse]
    url: str = ""
    back_url: str = ""
    register_url: str = ""
    without_url: str = ""
    asks_to_stay: bool = False

    def is_ticked(self, request: HttpRequest) -> bool:
        """Return whether the user ticked the box to stay signed in, on this page or on the one before it."""
        sent = request.POST if request.method == "POST" else request.GET
        return self.asks_to_stay and "keep_signed_in" in sent

    def links(self, request: HttpRequest, pending: Pending | None) -> dict[str, str]:
        """Return the URLs of the form, of the page for another address, and of the page after this step."""
        query = {"keep_signed_in": "on"} if self.is_ticked(request) else {}
        return {
            "action": self.url or reverse(self.page),
            "again_url": self.url or page_url(self.page, pending, **query),
            "without_url": self.without_url,
            "without_kind": self.kinds[0].value if self.kinds else "",
        }


def handle(request: HttpRequest, pending: Pending | None, step: CodeStep) -> HttpResponse:
    """Show the page for the address, send the code, or redeem it."""
    if request.method != "POST":
        form = AddressForm(initial={"identifier": _get_initial(request, pending)}, kinds=step.kinds)
        return _address_page(request, pending, step, form)
    if _CARRIED in request.POST:
        return _carry(request, pending, step)
    if "code" in request.POST:
        return _enter(request, pending, step)
    return _send(request, pending, step)


def _get_initial(request: HttpRequest, pending: Pending | None) -> str:
    """Return what the user typed on the sign-in page, else the application's hint."""
    hint = request.GET.get(_HINT) or (pending.authorization.login_hint if pending else "")
    return hint[:254]


def _carry(request: HttpRequest, pending: Pending | None, step: CodeStep) -> HttpResponse:
    """Redirect to the page for the address, with what was typed if a code can be sent there."""
    typed = request.POST.get("identifier", "").strip()[:254]
    has_kind = typed.isprintable() and identifiers.detect_kind(typed) in step.kinds
    query = {"keep_signed_in": "on"} if step.is_ticked(request) else {}
    return redirect(page_url(step.page, pending, **query, **({_HINT: typed} if has_kind else {})))


def _send(request: HttpRequest, pending: Pending | None, step: CodeStep) -> HttpResponse:
    form = AddressForm(request.POST, kinds=step.kinds)
    if not form.is_valid():
        return _address_page(request, pending, step, form, 400)
    browser = cookies.get_browser(request)
    if not browser:
        form.add_error(None, _("This page was open for too long. Try again."))
        return _address_page(request, pending, step, form, 400)
    identifier = form.cleaned_data["identifier"]
    try:
        codes.send(
            purpose=step.purpose,
            kind=_kind(identifier, step),
            identifier=identifier,
            browser=browser,
            captcha_token=shared.captcha_token(request),
            known=cookies.get_known_users(request),
        )
    except SentTooOften as error:
        notice = " ".join(error_messages.get_messages(error))
        wait = error_messages.get_wait(error)
        page = code_page(request, pending, step, CodeForm(), identifier, notice=notice, wait=wait)
        return add_headers(page, error.headers)
    except ServiceError as error:
        shared.add_error(form, error)
        return add_headers(_address_page(request, pending, step, form, error.status), error.headers)
    return code_page(request, pending, step, CodeForm(), identifier, wait=rules.CODE_PAUSE.seconds)


def _enter(request: HttpRequest, pending: Pending | None, step: CodeStep) -> HttpResponse:
    form = CodeForm(request.POST)
    identifier = request.POST.get("identifier", "")
    if not form.is_valid():
        return code_page(request, pending, step, form, identifier, status=400)
    try:
        entered = EnteredCode(
            kind=_kind(identifier, step),
            identifier=form.cleaned_data["identifier"],
            code=form.cleaned_data["code"],
            browser=cookies.get_browser(request),
            keep_signed_in=step.is_ticked(request),
        )
        response = step.redeem(entered)
    except ServiceError as error:
        shared.add_error(form, error, "code" if error.reason == "wrong_code" else None)
        page = code_page(request, pending, step, form, identifier, status=error.status)
        return add_headers(page, error.headers)
    if step.purpose is not Purpose.SIGN_IN:
        cookies.add_proof(request, response, entered.secret)
    return response


def _kind(identifier: str, step: CodeStep) -> Kind:
    kind = identifiers.detect_kind(identifier)
    if kind not in step.kinds:
        raise Invalid("identifier", "a code cannot be sent there")
    return kind


def _get_autocomplete(only: Kind | None, passkey: dict[str, Any] | None) -> str:
    name = {Kind.EMAIL: "email", Kind.PHONE: "tel"}.get(only, "username") if only else "username"
    return f"{name} webauthn" if passkey and passkey["autofill"] else name


def _address_page(
    request: HttpRequest, pending: Pending | None, step: CodeStep, form: Form, status: int = 200
) -> HttpResponse:
    only = step.kinds[0] if len(step.kinds) == 1 else None
    is_sign_in = step.purpose is Purpose.SIGN_IN
    experience = context.get_experience(request)
    passkey = passkey_part.for_sign_in(experience) if is_sign_in else None
    has_recovery = is_sign_in and passkey_part.has_recovery(experience)
    response = shared.render_page(
        request,
        "code_address",
        pending,
        status,
        form=form,
        purpose=step.purpose.value,
        label=labels.identifier_label(step.kinds or [Kind.EMAIL]),
        only_kind=only.value if only else "",
        is_offered=bool(step.kinds),
        autocomplete=_get_autocomplete(only, passkey),
        passkey=passkey,
        inputmode={Kind.EMAIL: "email", Kind.PHONE: "tel"}.get(only, "text") if only else "text",
        back_url=step.back_url,
        recovery_url=page_url("pages:recovery", pending) if has_recovery else "",
        register_url=step.register_url,
        asks_captcha=bool(step.kinds),
        asks_to_stay=step.asks_to_stay,
        keep_signed_in=step.is_ticked(request),
        **step.links(request, pending),
    )
    if not cookies.get_browser(request):
        cookies.new_browser(response)
    return response


def code_page(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest,
    pending: Pending | None,
    step: CodeStep,
    form: Form,
    identifier: str,
    *,
    status: int = 200,
    notice: str = "",
    wait: int = 0,
) -> HttpResponse:
    """Show the page that asks for the code. In ``wait`` seconds, if they are known, another can be sent."""
    return shared.render_page(
        request,
        "code_entry",
        pending,
        status,
        form=form,
        purpose=step.purpose.value,
        identifier=identifier,
        masked=labels.mask(identifier),
        wait=wait,
        wait_text=durations.describe(wait),
        has_letters=codes.has_long_codes(identifiers.detect_kind(identifier), identifier),
        notice=notice,
        # If a code was sent without a token, the tenant has no CAPTCHA. After a wrong code this is unknown,
        # so the CAPTCHA is looked up.
        asks_captcha="code" in request.POST or bool(shared.captcha_token(request)),
        keep_signed_in=step.is_ticked(request),
        **step.links(request, pending),
    )

"""The pages to change the email or phone: one for the new address, one for the code sent to it."""

from django.http import HttpRequest, HttpResponse

from identity.sessions.models import Session
from identity.users.identifiers import Kind
from interaction.journeys import codes
from interaction.journeys.account import contact
from interaction.pages.account_forms import CodeForm, ContactForm
from interaction.pages.views.account import shared


@shared.confirmed_page
def email(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for a new email address, and send a code to it."""
    return _address(request, session, Kind.EMAIL)


@shared.confirmed_page
def phone(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for a new phone number, and send a code to it."""
    return _address(request, session, Kind.PHONE)


@shared.confirmed_page
def email_code(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the code that was sent to the email address."""
    return _code(request, session, Kind.EMAIL)


@shared.confirmed_page
def phone_code(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for the code that was sent to the phone number."""
    return _code(request, session, Kind.PHONE)


def _address(request: HttpRequest, session: Session, kind: Kind) -> HttpResponse:
    form = ContactForm(
        session, shared.form_data(request), initial={"identifier": getattr(session.user, kind)}
    )
    if request.method == "POST":
        shared.attempt(
            form,
            lambda: contact.begin(
                session, kind=kind, address=form.cleaned_data["identifier"], password=form.entered_password
            ),
        )
        if not form.errors:
            return shared.redirect_done(f"pages:account-{kind}-code", "sent")
    return shared.render_page(request, session, "contact", form=form, kind=kind.value)


def _code(request: HttpRequest, session: Session, kind: Kind) -> HttpResponse:
    address = contact.find_pending_address(session, kind)
    if address is None:
        return shared.redirect_done(f"pages:account-{kind}", "expired")
    form = CodeForm(shared.form_data(request))
    if request.method == "POST":
        shared.attempt(form, lambda: contact.finish(session, kind=kind, code=form.cleaned_data["code"]))
        if not form.errors:
            return shared.redirect_done("pages:account", kind.value)
    has_letters = codes.has_long_codes(kind, address)
    return shared.render_page(
        request, session, "contact_code", form=form, kind=kind.value, address=address, has_letters=has_letters
    )

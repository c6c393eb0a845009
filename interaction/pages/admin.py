"""What operators see of the pages and messages before people do: the very same, made from a draft."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from html import unescape
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import get_script_prefix, reverse, set_script_prefix
from django.utils import translation

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.operator_kit.previewing import drawing
from identity.users.identifiers import Kind
from identity.users.notices import Notice
from interaction.connectors.messages import Message
from interaction.experience import drafts, message_templates
from interaction.experience.models import SignInExperience
from interaction.journeys import codes, notices
from interaction.pages.forms import CodeForm
from interaction.pages.views import code_step, register, sign_in
from interaction.pages.views.code_step import CodeStep, Entered
from interaction.verification.models import Purpose

_STYLE: Final = re.compile(r"""\bstyle=(["'])(.*?)\1""", re.DOTALL)
_DOCTYPE: Final = re.compile(r"(?:\s*<!doctype[^>]*>)?", re.IGNORECASE)
_SHEET: Final = re.compile(r"<style[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
_SOMEBODY: Final = {Kind.EMAIL: "ana@example.com", Kind.PHONE: "+15555550123"}
_STEPS: Final = {
    Purpose.SIGN_IN: "pages:sign-in-code",
    Purpose.REGISTER: "pages:register",
    Purpose.FORGOT_PASSWORD: "pages:forgot-password",
}


class NoCodes(ServiceError):
    """No page asks for a code."""

    reason = "no_codes"
    message = "nobody is asked for a code: no way of signing in needs one, or no connector can send it"


@drawing(SignInExperience, "sign-in", "Sign-in page")
def _sign_in(draft: SignInExperience) -> HttpResponse:
    page = _visited(draft, "pages:sign-in", sign_in.sign_in)
    # Where there are codes alone, people are led on to them.
    return _visited(draft, "pages:sign-in-code", sign_in.code) if page.has_header("Location") else page


@drawing(SignInExperience, "registration", "Registration page")
def _registration(draft: SignInExperience) -> HttpResponse:
    return _visited(draft, "pages:register", register.register)


@drawing(SignInExperience, "code", "Code entry")
def _code(draft: SignInExperience) -> HttpResponse:
    offered = codes.offered(draft)
    for purpose, page in _STEPS.items():
        if kinds := offered[purpose]:
            step = CodeStep(purpose=purpose, kinds=kinds, page=page, entered=_never)
            return _visited(draft, page, partial(_code_page, step))
    raise NoCodes


def _code_page(step: CodeStep, visit: HttpRequest) -> HttpResponse:
    return code_step.code_page(visit, None, step, CodeForm(), _SOMEBODY[step.kinds[0]])


def _never(_: Entered) -> HttpResponse:
    raise NoCodes  # nobody enters a code into a preview


@drawing(drafts.Email, "html", "As an email program shows it")
def _html(draft: drafts.Email) -> HttpResponse:
    message = _worded(draft)
    if not message.html:
        return _plain(draft)
    text = _with_a_sheet(message.html)
    response = HttpResponse(text)
    response.style_sheets = _SHEET.findall(text)  # type: ignore[attr-defined]
    return response


def _with_a_sheet(message: str) -> str:
    """Return an email with its inline styles in a sheet: a strict policy can name that by its hash."""
    rules: list[str] = []

    def numbered(style: re.Match[str]) -> str:
        rules.append(unescape(style[2]))
        return f'data-style="{len(rules)}"'

    text = _STYLE.sub(numbered, message)
    sheet = "".join(f'[data-style="{number}"]{{{rule}}}' for number, rule in enumerate(rules, 1))
    # Behind the doctype, without which browsers draw as in 1998.
    return _DOCTYPE.sub(lambda doctype: f"{doctype[0]}<style>{sheet}</style>", text, count=1)


@drawing(drafts.Email, "text", "Subject and plain text")
@drawing(drafts.TextMessage, "text", "Text message")
def _plain(draft: drafts.TextMessage) -> HttpResponse:
    return render(HttpRequest(), "admin/message.html", {"message": _worded(draft)})


def _visited(draft: SignInExperience, name: str, view: Callable[[HttpRequest], HttpResponse]) -> HttpResponse:
    """Return what a browser gets that was never here. What the page would have it remember is left out."""
    with _below_the_tenant():
        visit = HttpRequest()
        visit.method = "GET"
        visit.path = reverse(name)
        visit.draft = draft  # type: ignore[attr-defined]
        page = view(visit)
    page.cookies.clear()
    return page


@contextmanager
def _below_the_tenant() -> Iterator[None]:
    """Write addresses as pages of the tenant do; the operators' site has no prefix."""
    before = get_script_prefix()
    set_script_prefix(f"{tenancy.active().prefix}/")
    try:
        yield
    finally:
        set_script_prefix(before)


def _worded(draft: drafts.TextMessage) -> Message:
    key = draft.key
    alone = copy(draft.experience)
    # What stands for every other language is not what any one of them has of its own.
    alone.message_templates = [one for one in alone.message_templates if one["language"] == key.language]
    kind = Kind.EMAIL if key.channel == "email" else Kind.PHONE
    with translation.override(key.language or settings.LANGUAGE_CODE):
        if key.purpose in message_templates.CODES:
            return codes.sample(purpose=Purpose(key.purpose), kind=kind, shown=alone)
        return notices.sample(notice=Notice(key.purpose), channel=key.channel, shown=alone)

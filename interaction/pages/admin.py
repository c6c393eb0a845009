"""Previews of pages and messages on the operators' site, rendered by the real views from a draft."""

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
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.http.responses import allow_style_sheets
from identity.operator_kit.extensions import Preview, register_previews
from identity.users.identifiers import Kind
from identity.users.notices import Notice
from interaction.connectors.messages import Message
from interaction.experience import drafts, message_templates
from interaction.experience.models import SignInExperience
from interaction.journeys import codes, notices
from interaction.pages import (  # noqa: F401 - register themselves
    built_in_messages,
    connector_sign_ins,
    connector_trials,
    context,
    recovery_admin,
)
from interaction.pages.forms import CodeForm
from interaction.pages.views import code_step, register, sign_in
from interaction.pages.views.code_step import CodeStep
from interaction.pages.views.entered_code import EnteredCode
from interaction.verification.models import Purpose

_STYLE: Final = re.compile(r"""\bstyle=(["'])(.*?)\1""", re.DOTALL)
_DOCTYPE: Final = re.compile(r"(?:\s*<!doctype[^>]*>)?", re.IGNORECASE)
# A style element without an end lasts until the end of the text, so no text is read twice.
_SHEET: Final = re.compile(r"<style[^>]{0,256}>(.*?)(?:</style>|\Z)", re.DOTALL | re.IGNORECASE)
_EXAMPLES: Final = {Kind.EMAIL: "ana@example.com", Kind.PHONE: "+15555550123"}
_STEPS: Final = {
    Purpose.SIGN_IN: "pages:sign-in-code",
    Purpose.REGISTER: "pages:register",
    Purpose.FORGOT_PASSWORD: "pages:forgot-password",
}


class NoCodes(ServiceError):
    """No page asks for a code."""

    reason = "no_codes"
    message = gettext_noop(
        "no page asks for a code: no sign-in method needs one, or no connector can send it"
    )


def _render_sign_in(draft: SignInExperience) -> HttpResponse:
    page = _render_for_new_browser(draft, "pages:sign-in", sign_in.sign_in)
    # If codes are the only method, the sign-in page redirects to the page for codes.
    return (
        _render_for_new_browser(draft, "pages:sign-in-code", sign_in.code)
        if page.has_header("Location")
        else page
    )


def _render_registration(draft: SignInExperience) -> HttpResponse:
    return _render_for_new_browser(draft, "pages:register", register.register)


def _render_texts(view: Callable[[SignInExperience], HttpResponse], draft: drafts.PageTexts) -> HttpResponse:
    with translation.override(draft.language or settings.LANGUAGE_CODE):
        return view(draft.experience)


def _render_code(draft: SignInExperience) -> HttpResponse:
    offered = codes.get_offered_kinds(draft)
    for purpose, page in _STEPS.items():
        if kinds := offered[purpose]:
            step = CodeStep(purpose=purpose, kinds=kinds, page=page, redeem=_refuse)
            return _render_for_new_browser(draft, page, partial(_code_page, step))
    raise NoCodes


def _code_page(step: CodeStep, visit: HttpRequest) -> HttpResponse:
    return code_step.code_page(visit, None, step, CodeForm(), _EXAMPLES[step.kinds[0]])


def _refuse(_: EnteredCode) -> HttpResponse:
    raise NoCodes  # a preview accepts no code


def _render_html(draft: drafts.Email) -> HttpResponse:
    message = _build_message(draft)
    if not message.html:
        return _render_text(draft)
    text = _move_styles(message.html)
    response = HttpResponse(text)
    allow_style_sheets(response, _SHEET.findall(text))
    return response


def _move_styles(message: str) -> str:
    """Return an email with its inline styles in a style sheet, which the strict CSP can allow by its hash."""
    rules: list[str] = []

    def move(style: re.Match[str]) -> str:
        rules.append(unescape(style[2]))
        return f'data-style="{len(rules)}"'

    text = _STYLE.sub(move, message)
    sheet = "".join(f'[data-style="{index}"]{{{rule}}}' for index, rule in enumerate(rules, 1))
    # After the doctype: anything before it switches browsers to quirks mode.
    return _DOCTYPE.sub(lambda doctype: f"{doctype[0]}<style>{sheet}</style>", text, count=1)


def _render_text(draft: drafts.TextMessage) -> HttpResponse:
    return render(HttpRequest(), "admin/message.html", {"message": _build_message(draft)})


def _render_for_new_browser(
    draft: SignInExperience, name: str, view: Callable[[HttpRequest], HttpResponse]
) -> HttpResponse:
    """Return the page as a new browser gets it, without its cookies."""
    with _tenant_prefix():
        visit = HttpRequest()
        visit.method = "GET"
        visit.path = reverse(name)
        context.set_draft(visit, draft)
        page = view(visit)
    page.cookies.clear()
    return page


@contextmanager
def _tenant_prefix() -> Iterator[None]:
    """Build URLs in the block with the tenant's prefix; the operators' site has none."""
    before = get_script_prefix()
    set_script_prefix(f"{tenancy.active().prefix}/")
    try:
        yield
    finally:
        set_script_prefix(before)


def _build_message(draft: drafts.TextMessage) -> Message:
    key = draft.key
    experience = copy(draft.experience)
    # Only templates of this language: the preview must not fall back to the one for all languages.
    experience.message_templates = [
        template for template in experience.message_templates if template["language"] == key.language
    ]
    kind = Kind.EMAIL if key.channel == "email" else Kind.PHONE
    with translation.override(key.language or settings.LANGUAGE_CODE):
        if key.purpose in message_templates.CODES:
            return codes.build_sample(purpose=Purpose(key.purpose), kind=kind, experience=experience)
        return notices.build_sample(notice=Notice(key.purpose), channel=key.channel, experience=experience)


register_previews(
    SignInExperience,
    Preview("sign-in", _("Sign-in page"), _render_sign_in),
    Preview("registration", _("Registration page"), _render_registration),
    Preview("code", _("Code entry"), _render_code),
)
register_previews(
    drafts.PageTexts,
    Preview("sign-in", _("Sign-in page"), partial(_render_texts, _render_sign_in)),
    Preview("registration", _("Registration page"), partial(_render_texts, _render_registration)),
)
register_previews(
    drafts.Email,
    Preview("html", _("As an email program shows it"), _render_html),
    Preview("text", _("Subject and plain text"), _render_text),
)
register_previews(drafts.TextMessage, Preview("text", _("Text message"), _render_text))

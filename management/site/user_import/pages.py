"""The pages of the import: the form, what the file would do, and what was done.

A checked file is stored encrypted, for the session that has checked it, until it is imported or has expired.
So the browser does not send it again, and what is imported is what was checked.
"""

import secrets
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext, gettext_noop

from database import ids
from identity.core.errors import ServiceError
from identity.core.refusal_texts import translate
from identity.operator_kit import form_errors, fresh_proof, secrets_page, sent_form
from identity.operator_kit.operations import Operation
from identity.operator_kit.panels import Card
from identity.operator_kit.runner import OperationRunner
from identity.submissions import idempotency, shown_once
from identity.submissions.idempotency import Answer
from identity.submissions.shown_once import Viewer
from management.site.user_import import downloads, reports, uploads
from management.site.user_import.forms import ImportForm

_KEPT: Final = timedelta(minutes=30)
_CHECKED: Final = "checked"
_SESSION: Final = "imports"  # the name of the secret in the session
_RESULT: Final = "result"
_PROBLEMS: Final = "problems"
_NUMBERS: Final = {"anchor": "numbers-"}  # the prefix of element ids in the first table


class NoLongerStored(ServiceError):
    """The checked file was imported, has expired, or belongs to another session or tenant."""

    status = 410
    reason = "no_longer_stored"
    message = gettext_noop("the checked file is no longer stored")


class ProofMissing(ServiceError):
    """The file has secrets of authenticators, and the administrator has not proven the identity."""

    status = 403
    reason = "proof_needed"


def serve(runner: OperationRunner, request: HttpRequest, operation: Operation) -> HttpResponse:
    """Show a page of the import, check a file, or import the users of a checked file."""
    if request.method == "POST":
        answer = _import if _CHECKED in request.POST else _check
        return answer(runner, request, operation)
    if "sample" in request.GET:
        return downloads.sample()
    for parameter, show in (
        (_PROBLEMS, _download_problems),
        (_CHECKED, _show_checked),
        (_RESULT, _show_result),
    ):
        if parameter in request.GET:
            return show(runner, request, operation)
    return _show_form(runner, request, operation, ImportForm())


def _show_form(
    runner: OperationRunner, request: HttpRequest, operation: Operation, form: ImportForm, status: int = 200
) -> HttpResponse:
    card = Card("admin/user_import_about.html", None)
    context = {"form": form, "button": gettext("Check file"), "card": card}
    return runner.render(request, "admin/operation.html", operation, status, **context)


def _check(runner: OperationRunner, request: HttpRequest, operation: Operation) -> HttpResponse:
    """Check a file, store it, and redirect to the page that shows what its import would do."""
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show_form(runner, request, operation, form, 400)
    upload = form.get_upload()
    try:
        with uploads.reserve(str(request.user.pk)):
            report = uploads.prepare(upload, dry_run=True).store()
    except ServiceError as refusal:
        return _show_form(runner, request, operation, form, form_errors.add_refusal(form, refusal))
    content = {"upload": upload.dump(), "report": report}
    viewer = _start_viewer(request)
    stored_id = shown_once.replace(viewer, _get_page(request, _CHECKED), content, lifetime=_KEPT)
    return HttpResponseRedirect(f"{request.path}?{_CHECKED}={stored_id}")


def _show_checked(runner: OperationRunner, request: HttpRequest, operation: Operation) -> HttpResponse:
    shown_id = ids.parse(request.GET[_CHECKED])
    content = _find(request, _CHECKED, shown_id)
    if content is None:
        return _show_expired(runner, request, operation)
    report = content["report"]
    context = _get_context(report, shown_id, is_done=False) | {
        "title": reports.get_button(report),
        "idempotency_key": sent_form.new_key(),
    }
    return runner.render(request, "admin/user_import_checked.html", operation, **context)


def _import(runner: OperationRunner, request: HttpRequest, operation: Operation) -> HttpResponse:
    """Import the users of a checked file, once, and redirect to the page of the result.

    An import of authenticators needs the same proof as other changes of second factors.
    """
    checked_url = f"{request.path}?{urlencode({_CHECKED: request.POST[_CHECKED]})}"
    try:
        with uploads.reserve(str(request.user.pk)):
            answer = _run_once(request, ids.parse(request.POST[_CHECKED]))
    except uploads.Busy as refusal:
        text = gettext("%(refusal)s Nothing was imported.")
        messages.warning(request, text % {"refusal": translate(refusal.message)})
        return HttpResponseRedirect(checked_url)
    except ProofMissing:
        return fresh_proof.ask(request, back=checked_url)
    except (NoLongerStored, idempotency.KeyReused):
        return _show_expired(runner, request, operation)
    return HttpResponseRedirect(answer["url"])


def _run_once(request: HttpRequest, shown_id: UUID | None) -> Answer:
    """Import the users of a checked file, unless the same form was sent before.

    Raises:
        ProofMissing: the users have authenticators, and the administrator has not proven the identity.
        NoLongerStored: there is no such file.
        KeyReused: another form had the same key.

    """
    viewer, content = _get_viewer(request), _find(request, _CHECKED, shown_id)
    # The users are validated before the transaction, so that others wait for the insertion alone.
    prepared = uploads.prepare(uploads.load(content["upload"])) if content else None

    if prepared is not None and prepared.has_secrets and fresh_proof.is_missing(request):
        raise ProofMissing

    @transaction.atomic
    def work() -> Answer:
        page = _get_page(request, _CHECKED)
        if prepared is None or shown_id is None or shown_once.take(viewer, page, shown_id) is None:
            raise NoLongerStored
        result_id = shown_once.create(viewer, _get_page(request, _RESULT), prepared.store(), lifetime=_KEPT)
        return {"url": f"{request.path}?{_RESULT}={result_id}", "message": ""}

    return idempotency.run_once(sent_form.get_sent(request), work)


def _show_result(runner: OperationRunner, request: HttpRequest, operation: Operation) -> HttpResponse:
    shown_id = ids.parse(request.GET[_RESULT])
    report = _find(request, _RESULT, shown_id)
    if report is None:
        return _show_expired(runner, request, operation, is_done=True)
    context = _get_context(report, shown_id, is_done=True) | {"title": reports.get_title(report)}
    return runner.render(request, "admin/user_import_result.html", operation, **context)


def _get_context(report: reports.Report, shown_id: UUID | None, *, is_done: bool) -> dict[str, Any]:
    return {
        "report": report,
        "shown_id": shown_id,
        "numbers_section": _NUMBERS,
        "numbers": [reports.build_numbers(report, is_done=is_done)],
        "panels": reports.build_problems(report),
    }


def _download_problems(runner: OperationRunner, request: HttpRequest, operation: Operation) -> HttpResponse:
    shown_id = ids.parse(request.GET[_PROBLEMS])
    content = _find(request, _CHECKED, shown_id)
    report = content["report"] if content else _find(request, _RESULT, shown_id)
    if report is None:
        return _show_expired(runner, request, operation)
    return downloads.problems(report["problems"])


def _show_expired(
    runner: OperationRunner, request: HttpRequest, operation: Operation, *, is_done: bool = False
) -> HttpResponse:
    title = gettext("This file is no longer stored")
    if is_done:
        title = gettext("This result is no longer shown")
    context = {"title": title, "is_done": is_done}
    return runner.render(
        request, "admin/user_import_expired.html", operation, NoLongerStored.status, **context
    )


def _find(request: HttpRequest, kind: str, shown_id: UUID | None) -> Any:
    return shown_once.find(_get_viewer(request), _get_page(request, kind), shown_id) if shown_id else None


def _start_viewer(request: HttpRequest) -> Viewer:
    """Return the viewer of this session: the administrator, and a secret that is stored in the session.

    The key of the session would not do, because each proof of the identity replaces it.
    """
    request.session.setdefault(_SESSION, secrets.token_urlsafe(24))
    return _get_viewer(request)


def _get_viewer(request: HttpRequest) -> Viewer:
    return Viewer(str(request.user.pk), request.session.get(_SESSION, ""))


def _get_page(request: HttpRequest, kind: str) -> str:
    """Return the name of a page, which contains the tenant."""
    return f"{secrets_page.get_name(request.path)} {kind}"

"""The input of a form that was sent after its session had ended, until the administrator signs in again.

A session that ends because nobody used it is replaced by one without an administrator, in which ``note_end``
notes whose session it was. The new session can do one thing: keep the fields of one form, encrypted, for 15
minutes. After a new sign-in in the same browser, the same administrator sees the form with these fields. The
form was not run. A hidden field of a form names the fields that may be kept: never passwords, codes, other
secrets, and files.
"""

import secrets
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote

import orjson
from django import forms
from django.contrib import messages
from django.contrib.sessions.backends.base import SessionBase
from django.forms.utils import ErrorDict
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.translation import gettext

from database import ids
from identity.operator_kit import in_place
from identity.submissions import shown_once
from identity.submissions.shown_once import Viewer

FIELD: Final = "keeps"
TENANT_FIELD: Final = "drawn_for"  # in templates/admin/form_tenant.html: the tenant of the form
PARAMETER: Final = "kept"
SESSION_KEY: Final = "ended"
_PAGE: Final = "input of a form"
_LIFETIME: Final = timedelta(minutes=15)
_MAX_BYTES: Final = 64 * 1024
# Fields that a form has besides those of its class: the version of the row, and whether it is in a card.
_HIDDEN: Final = ("version", in_place.MARK)
_SECRET: Final = {"off", "one-time-code", "new-password", "current-password"}  # values of ``autocomplete``


def get_names(form: forms.Form) -> str:
    """Return the names of the fields of a form that may be kept, separated by spaces."""
    return " ".join(name for name, field in form.fields.items() if not _is_secret(field.widget))


def _is_secret(widget: forms.Widget) -> bool:
    is_password_or_file = isinstance(widget, forms.PasswordInput | forms.FileInput)
    return is_password_or_file or widget.attrs.get("autocomplete") in _SECRET


def note_end(session: SessionBase, administrator_id: object) -> None:
    """Note in a new session whose earlier session in this browser has ended."""
    session[SESSION_KEY] = {"id": str(administrator_id), "browser": secrets.token_urlsafe(24)}


def keep(request: HttpRequest) -> str | None:
    """Keep the input of a form, and return the URL that shows the form with it.

    Return None if the request sends no form of an operation, or if no ended session is noted.
    """
    ended: Any = request.session.get(SESSION_KEY)
    match: Any = request.resolver_match
    if ended is None or FIELD not in request.POST or not _is_form(match):
        return None
    names = {*request.POST[FIELD].split(), *_HIDDEN}
    fields = {name: request.POST.getlist(name) for name in sorted(names) if name in request.POST}
    content = {"path": request.path, "tenant": request.POST.get(TENANT_FIELD, ""), "fields": fields}
    if len(orjson.dumps(content)) > _MAX_BYTES:
        return None
    kept_id = shown_once.replace(_get_viewer(ended), _PAGE, content, lifetime=_LIFETIME)
    if in_place.MARK not in request.POST or not match.url_name.endswith("_operate"):
        return f"{quote(request.path)}?{PARAMETER}={kept_id}"
    name = quote(match.kwargs["operation"], safe="")
    row = reverse(f"{match.view_name.removesuffix('operate')}change", args=[match.kwargs["object_id"]])
    return f"{row}?{in_place.PARAMETER}={name}&{PARAMETER}={kept_id}#card-{name}"


def _is_form(match: Any) -> bool:
    """Return whether a path is that of an operation's form, and not that of its preview."""
    return match is not None and str(match.url_name).endswith(("_operate", "_operate_all"))


def find(request: HttpRequest, path: str) -> QueryDict | None:
    """Return the input that a request for a form names, if this administrator typed it into this form.

    ``path`` is that of the operation. The form has to belong to the same tenant.
    """
    if request.method != "GET" or PARAMETER not in request.GET:
        return None
    ended, kept_id = request.session.get(SESSION_KEY), ids.parse(request.GET[PARAMETER])
    content: Any = None
    if ended is not None and kept_id is not None and ended["id"] == str(request.user.pk):
        content = shown_once.find(_get_viewer(ended), _PAGE, kept_id)
    tenant = request.tenant.pk  # type: ignore[attr-defined]  # set by the middleware of the site
    if content is None or (content["path"], content["tenant"]) != (path, tenant):
        messages.warning(request, gettext("What you typed is no longer stored. Type it again."))
        return None
    fields = QueryDict(mutable=True)
    for name, values in content["fields"].items():
        fields.setlist(name, values)
    return fields


def fill(form_class: type[forms.Form], fields: QueryDict) -> forms.Form:
    """Return a form with kept input, which is not checked before the form is sent again."""
    form = form_class(fields)
    form._errors = ErrorDict()  # type: ignore[attr-defined]  # noqa: SLF001 - as Django does without a check
    return form


def discard(request: HttpRequest) -> None:
    """Delete the kept input of a session, because a form of it was run."""
    if ended := request.session.pop(SESSION_KEY, None):
        shown_once.discard_page(_get_viewer(ended), _PAGE)


def _get_viewer(ended: dict[str, str]) -> Viewer:
    return Viewer(ended["id"], ended["browser"])

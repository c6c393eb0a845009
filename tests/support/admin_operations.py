"""Submit an operation of the console, and read the text of the response."""

import html
import re

from django.urls import reverse


def submit_operation(operator, model, name, row=None, /, **typed):
    """Submit an operation of a row, or of a list without one. Return the response."""
    meta = model._meta
    base = f"admin:{meta.app_label}_{meta.model_name}_operate"
    path = reverse(f"{base}_all", args=[name]) if row is None else reverse(base, args=[row.pk, name])
    return operator.submit(path, **typed)


def read_text(answer):
    """Return the text of a response, without tags."""
    return html.unescape(re.sub(r"<[^>]+>", " ", answer.text))

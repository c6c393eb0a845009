"""Select users in the console for a bulk action."""

import re

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME

USERS, SESSIONS = "/admin/users/user/", "/admin/identity_sessions/session/"


def run_bulk_action(operator, path, action, rows, **more):
    """Select rows of a list and submit a bulk action. Return the response."""
    page = operator.get("/admin/tenant/").text
    (token, *_) = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    ticked = [str(getattr(row, "pk", row)) for row in rows]
    sent = {"csrfmiddlewaretoken": token, "action": action, ACTION_CHECKBOX_NAME: ticked}
    sent |= {"drawn_for": operator.tenant, **more}
    return operator.http.post(path, data=sent)

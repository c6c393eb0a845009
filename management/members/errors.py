"""Errors of the members API: ``{code, result: null, message}`` with codes of five digits."""

import logging
from typing import Any, ClassVar

from rest_framework.response import Response

from identity.core.errors import ServiceError
from management.api import errors

_log = logging.getLogger(__name__)


class MemberError(ServiceError):
    """An error with a code of five digits."""

    code: ClassVar[int]


class OrganizationGone(MemberError):
    code = 41000
    status = 404
    reason = "organization_not_found"
    message = "organization does not exist"


class MemberGone(MemberError):
    """The user is not a member of the organization."""

    code = 41301
    status = 404
    reason = "member_not_found"
    message = "organization member does not exist"


class AdminStays(MemberError):
    """A third-party application cannot remove an administrator of the organization."""

    code = 41305
    status = 403
    reason = "member_is_admin"
    message = "organization administrator cannot be removed by a third-party application"


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response of an exception in the format of the members API."""
    response = errors.handle(error, context)
    if response is None:
        code = getattr(context["view"], "failure_codes", {}).get(context["request"].method, 41300)
        _log.error("a members operation failed", exc_info=error)
        response = Response(status=500)
        return _with_body(response, code, "the operation failed: try again")
    code = error.code if isinstance(error, MemberError) else response.status_code
    return _with_body(response, code, response.data["message"], response.data.get("errors"))


def _with_body(response: Response, code: int, message: str, errors: object = None) -> Response:
    response.data = {"code": code, "result": None, "message": message}
    if errors:
        response.data["errors"] = errors
    return response

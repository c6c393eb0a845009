"""The member API's own errors: ``{code, result: null, message}`` with codes of five digits."""

import logging
from typing import Any, ClassVar

from rest_framework.response import Response

from identity.core.errors import ServiceError
from management.api import errors

_log = logging.getLogger(__name__)


class MemberError(ServiceError):
    """A refusal with a business code."""

    code: ClassVar[int]


class OrganizationGone(MemberError):
    """The organization does not exist."""

    code = 41000
    status = 404
    reason = "organization_not_found"
    message = "organization does not exist"


class MemberGone(MemberError):
    """The user is no member of the organization."""

    code = 41301
    status = 404
    reason = "member_not_found"
    message = "organization member does not exist"


class AdminStays(MemberError):
    """An administrator of the organization is not removed by a third party."""

    code = 41305
    status = 403
    reason = "member_is_admin"
    message = "organization administrator cannot be removed by a third-party application"


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the answer of an error in this API's shape."""
    response = errors.handle(error, context)
    if response is None:
        unforeseen = getattr(context["view"], "unforeseen", {}).get(context["request"].method, 41300)
        _log.error("a member operation failed", exc_info=error)
        response = Response(status=500)
        return _shaped(response, unforeseen, "the operation failed: try again")
    code = error.code if isinstance(error, MemberError) else response.status_code
    return _shaped(response, code, response.data["message"])


def _shaped(response: Response, code: int, message: str) -> Response:
    response.data = {"code": code, "result": None, "message": message}
    return response

"""Content types of requests without their parameters.

Only UTF-8 is supported. Django would use any ``charset`` that a client names, and fail if it is not a text
encoding.
"""

import re
from typing import Any, Final

from identity.http import areas

# RFC 2046 section 5.1.1, without the space.
_BOUNDARY: Final = re.compile(r"""\bboundary="?([A-Za-z0-9'()+_,./:=?-]{1,70})""", re.IGNORECASE)


def clean(environ: dict[str, Any]) -> str:
    """Return the content type of a request without parameters, except the boundary of uploaded files."""
    kind, _, parameters = str(environ.get("CONTENT_TYPE", "")).partition(";")
    kind = kind.strip().lower()
    if kind == "multipart/form-data" and areas.is_of_site(environ.get("PATH_INFO", "")):
        boundary = _BOUNDARY.search(parameters)
        return f"{kind}; boundary={boundary[1]}" if boundary else kind
    return kind

"""All paths and schemas of the OAuth and OpenID Connect endpoints."""

from typing import Final

from management.openapi.protocol import authorization, discovery, end_session, tokens
from management.openapi.responses import Schema

PATHS: Final[dict[str, Schema]] = discovery.PATHS | authorization.PATHS | tokens.PATHS | end_session.PATHS
SCHEMAS: Final[dict[str, Schema]] = tokens.SCHEMAS

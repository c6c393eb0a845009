"""The paths of the document itself and of its HTML reference."""

from management.openapi.responses import ETAG, JSON, Schema


def paths() -> dict[str, Schema]:
    """Return the paths of the JSON document and of the HTML reference."""
    return {
        "/api/openapi.json": {"get": _operation("openapi", "Get this document", JSON, {"type": "object"})},
        "/api/docs": {
            "get": _operation("docs", "Get this document in HTML", "text/html", {"type": "string"})
        },
    }


def _operation(name: str, summary: str, media_type: str, schema: Schema) -> Schema:
    success: Schema = {
        "description": "The document.",
        "headers": {"ETag": ETAG | {"description": "The version."}},
        "content": {media_type: {"schema": schema}},
    }
    if media_type == JSON:
        success["content"][JSON]["example"] = {"openapi": "3.1.0"}
    refusals = {code: {"$ref": f"#/components/responses/{name}"} for code, name in _REFUSALS.items()}
    return {
        "operationId": name,
        "tags": ["This document"],
        "summary": summary,
        "security": [],
        "responses": {"200": success} | refusals,
    }


_REFUSALS = {"404": "NotFound", "503": "Unavailable"}

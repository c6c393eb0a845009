"""Links from operations that create or list rows to operations on those rows, by the id in the response."""

from collections.abc import Iterator
from typing import Final

from management.openapi.responses import Schema

_METHODS: Final = ("get", "post", "put", "patch", "delete")


def add(document: Schema) -> None:
    """Link each POST to a collection with the operations on its items, and each list with getting an item."""
    paths: dict[str, Schema] = document["paths"]
    for path, methods in paths.items():
        success = methods.get("post", {}).get("responses", {}).get("200", {})
        linked = {operation: _link(operation, names) for operation, names in _next(paths, path)}
        if linked and _has_id(document, success):
            success["links"] = linked
        if "page" in _queries(methods.get("get", {})) and "get" in paths.get(f"{path}/{{id}}", {}):
            item = paths[f"{path}/{{id}}"]["get"]["operationId"]
            first = {"operationId": item, "parameters": {"path.id": "$response.body#/result/data/0/id"}}
            methods["get"]["responses"]["200"]["links"] = {item: first}


def _queries(operation: Schema) -> set[str]:
    return {parameter["name"] for parameter in operation.get("parameters", [])}


def _next(paths: dict[str, Schema], collection: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the operations on an item of the collection, each with the item's parameter and its parents'."""
    for path, methods in paths.items():
        item, _, rest = path.removeprefix(f"{collection}/").partition("/")
        if path.startswith(f"{collection}/{{") and "{" not in rest:
            for method in _METHODS:
                if method in methods:
                    yield methods[method]["operationId"], [item.strip("{}"), *_parents(collection)]


def _parents(collection: str) -> list[str]:
    return [part.strip("{}") for part in collection.split("/") if part.startswith("{")]


def _link(operation: str, names: list[str]) -> Schema:
    own, *parents = names
    ids = {f"path.{own}": "$response.body#/result/id"}
    ids |= {f"path.{name}": f"$request.path.{name}" for name in parents}
    return {"operationId": operation, "parameters": ids}


def _has_id(document: Schema, success: Schema) -> bool:
    result = success.get("content", {}).get("application/json", {}).get("schema", {})
    referred = result.get("properties", {}).get("result", {}).get("$ref", "")
    schema = document["components"]["schemas"].get(referred.rpartition("/")[2], {})
    return "id" in schema.get("properties", {})

"""Names of the product that tests write as text, or replace: those that do not exist.

A patch of a name that was renamed replaces nothing, and its test passes without trying anything.
"""

import ast
import importlib
import re
from collections.abc import Iterator

PACKAGES = ("audit", "config", "database", "identity", "interaction", "management", "oidc")

_PATH = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+")
_CHECK = re.compile(r"\w+\.[EIW]\d{3}")  # the id of a system check
# An option of a patch that makes it pass where there is no such name.
_SILENT = {"raising": False, "create": True}


def faults(source: str) -> list[str]:
    """Return what is wrong with the patches of a test file, as ``line: what``."""
    tree = ast.parse(source)
    imported = _imports(tree)
    found = [
        *_missing_paths(tree),
        *(
            fault
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            for fault in _of_call(call, imported)
        ),
    ]
    return [f"{line}: {what}" for line, what in sorted(found)]


def exists(path: str) -> bool:
    """Say whether a dotted path names a module of the product or something in one."""
    found: object = None
    parts = path.split(".")
    for count in range(1, len(parts) + 1):
        name, module = parts[count - 1], ".".join(parts[:count])
        try:
            found = getattr(found, name) if hasattr(found, name) else importlib.import_module(module)
        except ModuleNotFoundError:
            return False
    return True


def _missing_paths(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        path = _text(node)
        if _PATH.fullmatch(path) and not _CHECK.fullmatch(path) and not exists(path):
            yield node.lineno, f"there is no {path}"  # type: ignore[attr-defined]  # a Constant or a JoinedStr


def _text(node: ast.AST) -> str:
    """Return a text, or of an f-string the names before its first part that varies."""
    if isinstance(node, ast.JoinedStr) and node.values:
        return _text(node.values[0]).rpartition(".")[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _of_call(call: ast.Call, imported: dict[str, str]) -> Iterator[tuple[int, str]]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    called = ast.unparse(call.func)
    if name not in {"setattr", "delattr"} and not called.endswith(("patch", "patch.object")):
        return
    for keyword in call.keywords:
        if keyword.arg in _SILENT and getattr(keyword.value, "value", None) is _SILENT[keyword.arg]:
            yield call.lineno, f"{keyword.arg}={_SILENT[keyword.arg]} passes where there is nothing to patch"
    if len(call.args) >= 2 and (attribute := _text(call.args[1])):
        owner = _owner(call.args[0], imported)
        if owner and not exists(f"{owner}.{attribute}"):
            yield call.lineno, f"there is no {owner}.{attribute}"


def _owner(node: ast.expr, imported: dict[str, str]) -> str:
    """Return the dotted path of an expression that begins with an imported name, or nothing."""
    first, _, rest = ast.unparse(node).partition(".")
    return ".".join(filter(None, (imported[first], rest))) if first in imported else ""


def _imports(tree: ast.Module) -> dict[str, str]:
    """Return the paths of the names that a file imports from the product."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {name.asname or name.name: f"{node.module}.{name.name}" for name in node.names}
        if isinstance(node, ast.Import):
            found |= {name.asname: name.name for name in node.names if name.asname}
    return {name: path for name, path in found.items() if path.startswith(tuple(f"{p}." for p in PACKAGES))}

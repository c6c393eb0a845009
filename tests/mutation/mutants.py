"""Small changes of a module's code, each of which some test should notice."""

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_OPPOSITE: dict[type, type] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_WEAKENING = ("condition is false", "deleted", "+ 1", ": Or", ": BitOr", ": LtE", ": GtE")
_OPPOSITE_CALLS = {"all": "any", "any": "all"}
Change = Callable[[Any], None]
Changes = Iterator[tuple[str, Change]]


@dataclass(frozen=True)
class Mutant:
    """One change: the number of the changed node in its file, and of the change among those of the node."""

    path: str
    function: str
    line: int
    node: int
    change: int
    text: str
    lines: range  # of the statement, without the statements in it

    @property
    def key(self) -> str:
        return f"{self.path}:{self.line}:{self.node}.{self.change}"

    @property
    def weakens(self) -> bool:
        """Whether less is checked. Other changes mostly break the function, which any test notices."""
        return self.text.endswith(_WEAKENING) or ": without " in self.text

    def compile(self) -> CodeType:
        """Return the code of the changed module. Lines stay where they are."""
        tree = ast.parse((ROOT / self.path).read_text())
        node = list(ast.walk(tree))[self.node]
        _, change = list(_changes(node))[self.change]
        change(node)
        return compile(ast.fix_missing_locations(tree), str(ROOT / self.path), "exec")


def find(path: str) -> list[Mutant]:
    """Return all mutants of the functions and lambdas of a file. What runs at import is not changed."""
    tree = ast.parse((ROOT / path).read_text())
    inside = {id(node): name for function, name in _functions(tree) for node in _body(function)}
    lines = _lines(tree)
    return [
        Mutant(path, inside[id(node)], getattr(node, "lineno", 0), number, change, text, lines[id(node)])
        for number, node in enumerate(ast.walk(tree))
        if id(node) in inside
        for change, (text, _) in enumerate(_changes(node))
    ]


def sample(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """Return the mutants in random order: first those that weaken a check, one of each function at a time."""
    shuffled = list(mutants)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - the same sample for the same seed
    turns: dict[tuple[str, str], int] = {}
    files = list(dict.fromkeys(mutant.path for mutant in mutants))
    ranked = []
    for mutant in shuffled:
        turn = turns[mutant.path, mutant.function] = turns.get((mutant.path, mutant.function), 0) + 1
        ranked.append((not mutant.weakens, turn, files.index(mutant.path), mutant))
    return [mutant for *_, mutant in sorted(ranked, key=lambda row: row[:3])]


def _lines(tree: ast.AST) -> dict[int, range]:
    """Return the lines of the innermost statement of each node, without the statements in it."""
    lines: dict[int, range] = {}
    for statement in ast.walk(tree):  # outer statements first
        if isinstance(statement, ast.stmt):
            body = getattr(statement, "body", None)
            end = body[0].lineno if isinstance(body, list) else (statement.end_lineno or 0) + 1
            own = range(statement.lineno, max(statement.lineno + 1, end))
            lines |= dict.fromkeys(map(id, ast.walk(statement)), own)
    return lines


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[Any, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield node, f"{prefix}{node.name}"
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Lambda):
            yield node, f"{prefix}<lambda>"
        else:
            yield from _functions(node, prefix)


def _body(function: Any) -> Iterator[ast.AST]:
    """Yield the nodes that run when a function is called, without its docstring and annotations."""
    if not isinstance(function, ast.FunctionDef):
        yield from ast.walk(function.body)
        return
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    annotations = {
        id(part)
        for node in ast.walk(function)
        if isinstance(node, ast.AnnAssign)
        for part in ast.walk(node.annotation)
    }
    for statement in statements:
        yield from (node for node in ast.walk(statement) if id(node) not in annotations)


def _changes(node: ast.AST) -> Changes:
    """Yield what can be changed of a node, each with a description."""
    if isinstance(node, ast.expr | ast.stmt):
        short = " ".join(ast.unparse(node).split())[:90]
        for kind, changes in _CHANGES.items():
            if isinstance(node, kind):
                yield from ((f"{short}: {text}", change) for text, change in changes(node))


def _compare(node: Any) -> Changes:
    if opposite := _OPPOSITE.get(type(node.ops[0])):
        yield opposite.__name__, lambda node: _set(node, ops=[opposite(), *node.ops[1:]])


def _bool_op(node: Any) -> Changes:
    other = ast.Or if isinstance(node.op, ast.And) else ast.And
    yield other.__name__, lambda node: _set(node, op=other())
    for index in range(len(node.values)):
        yield f"without operand {index + 1}", partial(_drop, index=index)


def _unary_op(node: Any) -> Changes:
    if isinstance(node.op, ast.Not):
        double = ast.UnaryOp(op=ast.Not(), operand=node.operand)
        yield "without not", lambda node: _set(node, operand=double)


def _constant(node: Any) -> Changes:
    if isinstance(node.value, bool):
        yield str(not node.value), lambda node: _set(node, value=not node.value)
    elif isinstance(node.value, int):
        yield "+ 1", lambda node: _set(node, value=node.value + 1)


def _condition(_: Any) -> Changes:
    yield "condition is true", lambda node: _set(node, test=ast.Constant(value=True))
    yield "condition is false", lambda node: _set(node, test=ast.Constant(value=False))


def _return(node: Any) -> Changes:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield "returns None", lambda node: _set(node, value=ast.Constant(value=None))


def _statement(_: Any) -> Changes:
    yield "deleted", _delete


def _bin_op(node: Any) -> Changes:
    if opposite := _OPPOSITE.get(type(node.op)):
        yield opposite.__name__, lambda node: _set(node, op=opposite())


def _call(node: Any) -> Changes:
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in {"Q", "filter", "exclude", "get"}:
        for index, keyword in enumerate(node.keywords):
            yield f"without {keyword.arg}", lambda node, index=index: node.keywords.pop(index)
    if isinstance(node.func, ast.Name) and node.func.id in _OPPOSITE_CALLS:
        other = _OPPOSITE_CALLS[node.func.id]
        yield other, lambda node: _set(node.func, id=other)


_CHANGES: dict[Any, Callable[[Any], Changes]] = {
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary_op,
    ast.Constant: _constant,
    ast.IfExp | ast.If: _condition,
    ast.Return: _return,
    ast.Expr | ast.Raise | ast.AugAssign: _statement,
    ast.BinOp: _bin_op,
    ast.Call: _call,
}


def _set(node: Any, **fields: object) -> None:
    for name, value in fields.items():
        setattr(node, name, value)


def _drop(node: Any, index: int) -> None:
    del node.values[index]
    if len(node.values) == 1:
        node.values.append(node.values[0])


def _delete(node: Any) -> None:
    """Turn a statement into one without effect."""
    place = {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    node.__class__ = ast.Expr
    node.__dict__.clear()
    node.__dict__.update(place, value=ast.Constant(value=0))

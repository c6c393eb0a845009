"""Comments and docstrings use the words of the field. docs/glossary.md has the standard terms."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

_PACKAGES = ("audit", "config", "database", "identity", "interaction", "management", "oidc")
# A phrase, and what to write in its place.
_BANNED = {
    r"whoever": "name the user, the client or the caller",
    r"anew": "again",
    r"heed(s|ed)?": "follow, respect",
    r"(is|are|was) over": "expired, ended",
    r"of ours": "our, or the name",
    r"(take|takes|taken|took) back": "revoke",
    r"(come|comes|came) back from": "return from",
    r"hung on": "attached to",
    r"lies in wait": "say what happens",
    r"once more": "again, retry",
    r"at this moment": "now, currently",
    r"under way": "pending, running",
    r"save for": "except",
    r"hence": "so",
    r"thereby": "so",
}
_PATTERN = re.compile(rf"\b({'|'.join(_BANNED)})\b", re.IGNORECASE)


def _files() -> list[Path]:
    found = [path for package in _PACKAGES for path in (settings.BASE_DIR / package).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def _prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each comment and docstring with its line."""
    source = path.read_text()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node.body[0].lineno, " ".join(docstring.split())


def test_no_comment_or_docstring_has_a_word_of_the_house():
    found = [
        f"{path.relative_to(settings.BASE_DIR)}:{line}: {match[0]!r}"
        for path in _files()
        for line, text in _prose(path)
        if (match := _PATTERN.search(text))
    ]

    assert found == []


@pytest.mark.parametrize("text", ["Whoever asks.", "It is over.", "Ask once more.", "a row of ours"])
def test_the_words_are_found(text):
    assert _PATTERN.search(text)

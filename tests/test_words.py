"""Prose uses the words of the field, in plain sentences. docs/glossary.md has the standard terms.

``python -m tests.test_words`` writes ``tests/docs/prose.tsv`` after pages were rewritten.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

_THIS = Path(__file__).resolve()
ROOT = _THIS.parent.parent
_FOLDERS = ("audit", "config", "database", "identity", "interaction", "management", "oidc", "tests")
_MAX_LINE = 100
# A phrase, and what to write in its place.
_BANNED = {
    r"whoever": "name the user, the client or the caller",
    r"anew": "again",
    r"heed(s|ed)?": "follow, respect",
    r"(is|are|was) over": "expired, ended",
    r"of ours": "our, or the name",
    r"(take|takes|taken|took) back": "revoke",
    r"(come|comes|came) back from": "return from",
    r"(hung|hangs) on": "attached to",
    r"lies in wait": "say what happens",
    r"once more": "again, retry",
    r"at this (very )?moment": "now, currently",
    r"under way": "pending, running",
    r"save for": "except",
    r"hence": "so",
    r"thereby": "so",
    r"nothing for": "None if",
    r"as if (it|they|he|she) (was|were)": "say how it is treated",
    r"who asks": "the caller",
    r"which needs to be": "that must be",
    r"is said": "name who says it, or what the text contains",
    r"and no more": "only",
    r"what hangs": "the related rows",
    r"brought along": "included",
    r"it is for": "its purpose",
    r"in vain": "unused",
    r"vanish(es|ed)?": "is deleted, disappears",
    r"anybody": "any user, any client",
    r"in its stead": "instead",
    r"for ever": "cannot be changed, is never deleted",
    r"once for all": "once",
    r"the like": "name the others",
    r"till": "until",
    r"mend(s|ed)?": "fix",
}
# A phrase may be continued on the next line.
_PATTERN = re.compile(rf"\b({'|'.join(_BANNED)})\b".replace(" ", r"\s+"), re.IGNORECASE)
_TRANSLATIONS = {"_", "gettext", "gettext_lazy", "ngettext"}  # texts of the catalogues, which have tests
_TRANSLATED = re.compile(r"{% translate .*?%}|{% blocktranslate.*?endblocktranslate %}", re.DOTALL)
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK_TARGET = re.compile(r"\]\([^)]*\)|^\[[^]]+\]: .*|<?https?://\S+")


def _modules() -> list[Path]:
    found = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts and path != _THIS)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield each comment with its first line. Comments on successive lines are one comment."""
    first, last, words = 0, -1, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1:
                yield first, words
                first, words = token.start[0], ""
            last, words = token.start[0], f"{words} {token.string.lstrip('#')}"
    yield first, words


def _strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield each docstring and message with its line, except messages in the catalogues."""
    nodes = list(ast.walk(ast.parse(source)))
    translated = {
        id(part)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TRANSLATIONS
        for part in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in translated:
            yield node.lineno, " ".join(node.value.split())


def _templates() -> list[Path]:
    return sorted(path for path in (ROOT / "templates").rglob("*.*") if path.suffix in {".html", ".txt"})


def _pages() -> list[Path]:
    return sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md", ROOT / "CONTRIBUTING.md"])


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _count(path: Path) -> tuple[int, int]:
    """Return the number of banned phrases of a page, and of lines that are too long.

    Tables, code and the targets of links may be longer.
    """
    prose = _LINK_TARGET.sub("]", _CODE.sub("`", path.read_text()))
    lines = _LINK_TARGET.sub(
        "]", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    )
    long = [
        line for line in lines.splitlines() if len(line) > _MAX_LINE and not line.lstrip().startswith("|")
    ]
    return len(_PATTERN.findall(prose)), len(long)


_CEILINGS = ROOT / "tests" / "docs" / "prose.tsv"


def _ceilings() -> dict[str, tuple[int, int]]:
    rows = (line.split("\t") for line in _CEILINGS.read_text().splitlines()[1:])
    return {name: (int(phrases), int(lines)) for name, phrases, lines in rows}


def test_no_comment_docstring_or_message_has_a_banned_phrase():
    found = [
        f"{_name(path)}:{line}: {match[0]!r}: {_replacement(match[0])}"
        for path in _modules()
        for read in (_comments, _strings)
        for line, text in read(path.read_text())
        if (match := _PATTERN.search(text))
    ]

    assert found == []


def test_no_template_has_a_banned_phrase():
    found = [
        f"{_name(path)}: {match[0]!r}"
        for path in _templates()
        for match in _PATTERN.finditer(_TRANSLATED.sub("", path.read_text()))
    ]

    assert found == []


def test_no_page_has_more_banned_phrases_or_long_lines_than_before():
    """A new page has neither. ``tests/docs/prose.tsv`` has the pages that are not rewritten yet.

    A page that has fewer now is written there again, so that it does not get worse unnoticed.
    """
    counts = {_name(path): _count(path) for path in _pages()}
    ceilings = dict.fromkeys(counts, (0, 0)) | _ceilings()

    other = {
        name: f"{phrases} banned phrases and {lines} lines over {_MAX_LINE} characters"
        for name, (phrases, lines) in counts.items()
        if (phrases, lines) != ceilings[name]
    }

    assert other == {}
    assert set(ceilings) == set(counts)


@pytest.mark.parametrize(
    "text",
    [
        "Whoever asks.",
        "It is over.",
        "Ask once more.",
        "a row of ours",
        "nothing for what is no id",
        "for ever",
        "Ask once\nmore.",
    ],
)
def test_the_phrases_are_found(text):
    assert _PATTERN.search(text)


def test_a_comment_is_read_to_its_end():
    source = "x = 1  # This is said once\n# more.\n\n# Another.\n"

    found = [(line, " ".join(text.split())) for line, text in _comments(source) if text]

    assert found == [(1, "This is said once more."), (4, "Another.")]


def _replacement(phrase: str) -> str:
    words = " ".join(phrase.split())
    return next(text for pattern, text in _BANNED.items() if re.fullmatch(pattern, words, re.IGNORECASE))


if __name__ == "__main__":
    counts = {_name(path): _count(path) for path in _pages()}
    rows = [f"{name}\t{phrases}\t{lines}" for name, (phrases, lines) in counts.items() if phrases or lines]
    _CEILINGS.write_text("\n".join(["page\tphrases\tlong lines", *rows]) + "\n")
